import { expect } from "chai";
import type { CodeBlock } from "./code-blocks.ts";

/** Languages of blocks that show what the `sh` block before them printed. */
export const SHOWN_LANGUAGES = ["json", "http", "text"];

/** Members whose number depends on the moment. */
const BY_THE_CLOCK = new Set(["retry_after", "reset"]);

const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Expects that a response in a page is what the commands before it printed.
 *
 * - `json`: the last line printed is JSON. Each member shown is in it with an equal value; it may have more members. A list
 *   has as many items as shown, or more where it shows "…": after its first items or before its last.
 * - `http`: a status line and headers as `curl -i` prints them, which may have more headers; then perhaps a body, as `json`.
 * - `text`: exactly the lines that were printed.
 *
 * In all of them … stands for any characters, a timestamp for any timestamp, and a number that depends on the clock
 * (`retry_after`, `reset`, Retry-After, t and w of the RateLimit headers) for any number.
 */
export function expectShown({ language, text }: CodeBlock, printed: string): void {
  if (language === "json") expectJson(text, printed);
  else if (language === "http") expectHttp(text, printed);
  else expect(lines(printed).join("\n")).to.match(pattern(lines(text).join("\n")));
}

function expectHttp(text: string, printed: string): void {
  const [head = "", ...body] = text.split("\n\n");
  const received = lines(printed).map(withoutClock);
  for (const line of lines(head).map(withoutClock)) {
    const wanted = pattern(line, "i");
    expect(
      received.some((each) => wanted.test(each)),
      `the answer has the line: ${line}\n${printed}`,
    ).to.equal(true);
  }
  if (body.length > 0) expectJson(body.join("\n\n"), printed);
}

function withoutClock(line: string): string {
  return line.replace(/^(Retry-After: )\d+$/i, "$1N").replaceAll(/;([tw])=\d+/g, ";$1=N");
}

function expectJson(text: string, printed: string): void {
  const last = lines(printed).at(-1) ?? "";
  expectValue(JSON.parse(text), JSON.parse(last), "");
}

/** @param at where it is in the response: a JSON Pointer. */
function expectValue(shown: unknown, real: unknown, at: string): void {
  const where = at === "" ? "the answer" : at;
  if (shown === "…") return;
  if (Array.isArray(shown)) {
    expect(real, where).to.be.an("array");
    const rest = real as unknown[];
    const items = shown.filter((item) => item !== "…");
    const open = items.length < shown.length;
    if (open) expect(rest.length, `items of ${where}`).to.be.at.least(items.length);
    else expect(rest.length, `items of ${where}`).to.equal(items.length);
    const skipped = shown[0] === "…" ? rest.length - items.length : 0;
    for (const [n, item] of items.entries()) expectValue(item, rest[n + skipped], `${at}/${n + skipped}`);
  } else if (typeof shown === "object" && shown !== null) {
    expect(real, where).to.be.an("object");
    const members = real as Record<string, unknown>;
    for (const [name, value] of Object.entries(shown)) {
      expect(members, where).to.have.property(name);
      expectValue(value, members[name], `${at}/${name}`);
    }
  } else if (typeof shown === "string" && typeof real === "string") {
    if (!(TIMESTAMP.test(shown) && TIMESTAMP.test(real))) expect(real, where).to.match(pattern(shown));
  } else if (BY_THE_CLOCK.has(at.replace(/^.*\//, ""))) {
    expect(real, where).to.be.a(typeof shown);
  } else {
    expect(real, where).to.equal(shown);
  }
}

/** Returns an expression for the whole text, in which … stands for any characters. */
function pattern(text: string, flags = ""): RegExp {
  const literal = (part: string) => part.replaceAll(/[.*+?^${}()|[\]\\/]/g, String.raw`\$&`);
  return new RegExp(`^${text.split("…").map(literal).join("[^]*")}$`, flags);
}

/** Returns the lines, without those at the end that are empty. */
function lines(text: string): string[] {
  return text.replaceAll("\r", "").trimEnd().split("\n");
}
