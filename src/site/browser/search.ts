import MiniSearch from "minisearch";
import { element } from "./element.ts";
import { SEARCH_OPTIONS, type SearchEntry } from "./search-options.ts";

const MAX_RESULTS = 12;
const EXCERPT_LENGTH = 120;

let index: Promise<MiniSearch<SearchEntry>> | undefined;

function load(): Promise<MiniSearch<SearchEntry>> {
  index ??= fetch("/docs/assets/search.json")
    .then((response) => response.text())
    .then((text) => MiniSearch.loadJSON<SearchEntry>(text, SEARCH_OPTIONS))
    .catch((error: unknown) => {
      index = undefined; // so that the next letter tries again
      throw error;
    });
  return index;
}

/** Adds the search: a dialog that the button of the header or the key `/` opens. */
export function addSearch(button: HTMLButtonElement): void {
  const input = element("input", { id: "search-text", type: "search", autocomplete: "off", spellcheck: "false" });
  const label = element("label", { for: "search-text" }, "Search the documentation");
  const row = element("div", { class: "row" }, input, element("button", {}, "Close"));
  const form = element("form", { method: "dialog" }, label, row);
  const status = element("p", { role: "status", class: "count" });
  const list = element("ol", { class: "results" });
  const dialog = element("dialog", { class: "search", "aria-label": "Search" }, form, status, list);
  document.body.append(dialog);

  const open = () => {
    if (!dialog.open) dialog.showModal();
    input.select();
    load().catch(() => undefined); // said once the reader types
  };
  const fail = () => {
    status.textContent = "The search could not be loaded. Check your connection, then type on.";
  };
  const show = async () => {
    const text = input.value.trim();
    const found = text === "" ? [] : (await load()).search(text);
    if (input.value.trim() !== text) return; // the reader has typed on
    const shown = found.slice(0, MAX_RESULTS);
    status.textContent = text === "" ? "" : countText(found.length);
    list.replaceChildren(...shown.map((result) => itemOf(String(result.id), result as unknown as SearchEntry, text)));
  };
  button.hidden = false;
  button.addEventListener("click", open);
  input.addEventListener("input", () => void show().catch(fail));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    list.querySelector("a")?.click();
  });
  dialog.addEventListener("keydown", (event) => moveFocus(event, [input, ...list.querySelectorAll("a")]));
  list.addEventListener("click", () => dialog.close());
  document.addEventListener("keydown", (event) => {
    const typing =
      event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || typing) return;
    event.preventDefault();
    open();
  });
}

function countText(count: number): string {
  if (count === 0) return "Nothing found.";
  if (count === 1) return "1 place found.";
  return `${count} places found${count > MAX_RESULTS ? `, the best ${MAX_RESULTS} shown` : ""}.`;
}

function itemOf(address: string, { page, title, text }: SearchEntry, query: string): HTMLLIElement {
  const place = element("small", {}, page === title ? "" : page);
  const excerpt = element("span", {}, excerptOf(text, query));
  return element("li", {}, element("a", { href: address }, element("strong", {}, title), " ", place, excerpt));
}

/** Returns the part of the text around the first word that was searched for. */
function excerptOf(text: string, query: string): string {
  const [word = ""] = query.toLowerCase().split(/\s+/);
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT_LENGTH / 4);
  const start = at === 0 ? 0 : text.indexOf(" ", at) + 1;
  return `${start > 0 ? "… " : ""}${text.slice(start, start + EXCERPT_LENGTH)}${text.length > start + EXCERPT_LENGTH ? " …" : ""}`;
}

function moveFocus(event: KeyboardEvent, stops: readonly HTMLElement[]): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}
