import MiniSearch from "minisearch";
import { SEARCH_OPTIONS, type SearchEntry } from "./search-options.ts";

const MOST_RESULTS = 12;
const EXCERPT = 120;

let index: Promise<MiniSearch<SearchEntry>> | undefined;

function load(): Promise<MiniSearch<SearchEntry>> {
  index ??= fetch("/docs/assets/search.json")
    .then((answer) => answer.text())
    .then((text) => MiniSearch.loadJSON<SearchEntry>(text, SEARCH_OPTIONS))
    .catch((error: unknown) => {
      index = undefined; // so that the next letter tries again
      throw error;
    });
  return index;
}

/** Adds the search: a dialog that the button of the header or the key `/` opens. */
export function addSearch(button: HTMLButtonElement): void {
  const dialog = document.createElement("dialog");
  dialog.className = "search";
  dialog.setAttribute("aria-label", "Search");
  dialog.innerHTML = `<form method="dialog"><label for="search-text">Search the documentation</label>
    <div class="row"><input id="search-text" type="search" autocomplete="off" spellcheck="false"><button>Close</button></div></form>
    <p role="status" class="count"></p><ol class="results"></ol>`;
  document.body.append(dialog);
  const input = dialog.querySelector("input");
  const status = dialog.querySelector("p");
  const list = dialog.querySelector("ol");
  if (input === null || status === null || list === null) return;

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
    const shown = found.slice(0, MOST_RESULTS);
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
  return count === 1
    ? "1 place found."
    : `${count} places found${count > MOST_RESULTS ? `, the best ${MOST_RESULTS} shown` : ""}.`;
}

function itemOf(address: string, { page, title, text }: SearchEntry, query: string): HTMLLIElement {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = address;
  const [strong, small, excerpt] = ["strong", "small", "span"].map((name) => document.createElement(name));
  if (strong === undefined || small === undefined || excerpt === undefined) return item;
  strong.textContent = title;
  small.textContent = page === title ? "" : page;
  excerpt.textContent = excerptOf(text, query);
  link.append(strong, " ", small, excerpt);
  item.append(link);
  return item;
}

/** Returns the part of the text around the first word that was searched for. */
function excerptOf(text: string, query: string): string {
  const [word = ""] = query.toLowerCase().split(/\s+/);
  const at = Math.max(0, text.toLowerCase().indexOf(word) - EXCERPT / 4);
  const start = at === 0 ? 0 : text.indexOf(" ", at) + 1;
  return `${start > 0 ? "… " : ""}${text.slice(start, start + EXCERPT)}${text.length > start + EXCERPT ? " …" : ""}`;
}

function moveFocus(event: KeyboardEvent, stops: readonly HTMLElement[]): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  event.preventDefault();
  const at = stops.findIndex((stop) => stop === document.activeElement);
  stops[Math.min(Math.max(at + step, 0), stops.length - 1)]?.focus();
}
