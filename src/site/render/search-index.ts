import MiniSearch from "minisearch";
import { SEARCH_OPTIONS, type SearchEntry } from "../browser/search-options.ts";
import { type Document, pathOf, type Rendered } from "./document.ts";
import { asset } from "./assets.ts";

/** Returns the index that browser/search.ts reads: one entry for each page, and one for each of its headings. */
export function searchIndex(documents: readonly Document[]): Rendered {
  const index = new MiniSearch<SearchEntry>(SEARCH_OPTIONS);
  index.addAll(documents.flatMap(entriesOf));
  return asset("search.json", "application/json", JSON.stringify(index));
}

function entriesOf(document: Document): SearchEntry[] {
  const path = pathOf(document.slug);
  const text = document.body.text;
  const places = document.headings.map(({ id }) => text.indexOf(`id="${id}"`));
  const sections = document.headings.map(({ id, text: heading }, index) => {
    const start = places[index] ?? 0;
    return {
      id: `${path}#${id}`,
      page: document.title,
      title: heading,
      text: plainText(text.slice(start, places[index + 1])),
    };
  });
  const lead = `${document.lead} ${plainText(text.slice(0, places[0]))}`;
  return [{ id: path, page: document.title, title: document.title, text: lead }, ...sections];
}

/** Removes the elements, and what stands in for characters. */
function plainText(text: string): string {
  return text
    .replace(/^[^<]*>/, "")
    .replaceAll(/<a class="anchor".*?<\/a>|<[^>]*>/g, " ")
    .replaceAll(/&(?:amp|lt|gt|quot|#39);/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}
