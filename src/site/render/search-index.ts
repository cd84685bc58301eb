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

function entriesOf({ slug, title: page, lead, body, headings = [] }: Document): SearchEntry[] {
  const path = pathOf(slug);
  const places = headings.map(({ id }) => body.text.indexOf(`id="${id}"`));
  const sections = headings.map(({ id, text: title }, index) => {
    const text = plainText(body.text.slice(places[index], places[index + 1]));
    return { id: `${path}#${id}`, page, title, text };
  });
  return [{ id: path, page, title: page, text: `${lead} ${plainText(body.text.slice(0, places[0]))}` }, ...sections];
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
