/** The script of the quick start: the field for the key, and a button on each example that sends its request. */
import { faultOf, followSessionKey, keepSessionKey, sessionKey } from "./session-key.ts";
import { element } from "./element.ts";
import type { Example } from "../render/quick-start.ts";

/** The headers that say something about the interface. */
const SHOWN_HEADERS = ["RateLimit", "RateLimit-Policy", "Retry-After", "ETag", "Location", "X-Request-Id"];

/** What blocks have set so far. */
const variables = new Map<string, string>([["BASE", location.origin]]);

const field = element("input", { id: "key", type: "password", autocomplete: "off", spellcheck: "false" });
const keyStatus = element("p", { role: "status" });

function addKeyField(): void {
  const place = document.querySelector("#key-field");
  if (place === null) return;
  const label = element("label", { for: "key" }, "Your API key");
  const forget = element("button", { type: "button" }, "Forget the key");
  const form = element("form", { class: "key" }, label, field, forget);
  const kept = "The key stays in this tab. It is sent to this service alone, and is gone when you close the tab.";
  const note = element("p", { class: "note" }, kept);
  field.value = sessionKey();
  field.addEventListener("input", () => {
    keepSessionKey(field.value);
    keyStatus.textContent = sessionKey() === "" ? "" : "The examples use this key.";
  });
  forget.addEventListener("click", () => {
    field.value = "";
    keepSessionKey("");
    keyStatus.textContent = "The key is forgotten.";
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  place.append(form, note, keyStatus);
  // The block for a shell shows the address of this service.
  const shell = place.parentElement?.querySelector("#key-field ~ .code code");
  if (shell) shell.textContent = (shell.textContent ?? "").replace(/^BASE=.*$/m, `BASE=${location.origin}`);
}

function addRunButton(block: HTMLElement): void {
  const example = JSON.parse(block.dataset["example"] ?? "") as Example;
  const run = element("button", { type: "button", class: "run primary" }, "Run");
  const status = element("p", { role: "status" });
  const details = element("div", {});
  const output = element("div", { class: "output" }, status, details);
  output.hidden = true;
  block.append(run, output);
  run.addEventListener("click", () => {
    output.hidden = false;
    details.replaceChildren();
    const missing = missingFor(example);
    if (missing !== undefined) {
      status.textContent = missing;
      if (sessionKey() === "") field.focus();
      return;
    }
    run.disabled = true;
    status.textContent = "Sending …";
    void send(example)
      .then(({ title, parts }) => {
        status.textContent = title;
        details.replaceChildren(...parts);
      })
      .catch(() => {
        status.textContent = "The service did not answer. Check your connection, then run the example again.";
      })
      .finally(() => (run.disabled = false));
  });
}

/** Says what the reader has to do before the example can be sent. */
function missingFor({ url, headers, body = "", times }: Example): string | undefined {
  if (sessionKey() === "") return "Paste your API key into the field above first.";
  const fault = faultOf(sessionKey());
  if (fault !== undefined) return fault;
  const text = [url, body, ...Object.values(headers)].join(" ");
  const names = Array.from(text.matchAll(/\$\{(\w+)\}/g), ([, name = ""]) => name);
  const missing = names.find((name) => name !== "KEY" && !variables.has(name) && !times.includes(name));
  return missing === undefined ? undefined : `Run the example that sets ${missing} first.`;
}

async function send(example: Example): Promise<{ title: string; parts: HTMLElement[] }> {
  for (const name of example.times) variables.set(name, String(Math.floor(Date.now() / 1000)));
  const filled = (text: string) =>
    text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => (name === "KEY" ? sessionKey() : (variables.get(name) ?? "")));
  const started = performance.now();
  const response = await fetch(filled(example.url), {
    method: example.method,
    headers: Object.fromEntries(Object.entries(example.headers).map(([name, value]) => [name, filled(value)])),
    body: example.body === undefined ? null : filled(example.body),
    cache: "no-store",
    credentials: "omit",
  });
  const text = await response.text();
  const title = `Status ${response.status} ${response.statusText}, after ${Math.round(performance.now() - started)} ms`;
  const body: unknown = /json/.test(response.headers.get("Content-Type") ?? "") ? JSON.parse(text) : text;
  const told = response.ok ? capture(example, body) : [];
  return { title, parts: [...headerList(response.headers), ...bodyBlock(body), ...told] };
}

/** Takes values of the response. From now on, the examples show these values instead of the names. */
function capture({ captures }: Example, body: unknown): HTMLElement[] {
  return Object.entries(captures).map(([name, path]) => {
    const value = path.split(".").reduce<unknown>((found, member) => Object(found)[member], body);
    variables.set(name, String(value));
    for (const shown of document.querySelectorAll<HTMLElement>(".runnable .hljs-variable")) {
      shown.dataset["name"] ??= shown.textContent ?? "";
      if (shown.dataset["name"] === `$${name}`) shown.textContent = String(value);
    }
    return element("p", {}, "The examples now use ", element("code", {}, `${name}=${String(value)}`), ".");
  });
}

function headerList(headers: Headers): HTMLElement[] {
  const rows = SHOWN_HEADERS.filter((name) => headers.has(name)).map((name) => `${name}: ${headers.get(name)}`);
  return rows.length === 0 ? [] : [element("pre", { tabindex: "0", class: "headers" }, rows.join("\n"))];
}

function bodyBlock(body: unknown): HTMLElement[] {
  if (body === "") return [element("p", {}, "The response has no body.")];
  return [element("pre", { tabindex: "0" }, typeof body === "string" ? body : JSON.stringify(body, null, 2))];
}

addKeyField();
followSessionKey();
for (const block of document.querySelectorAll<HTMLElement>(".runnable")) addRunButton(block);
