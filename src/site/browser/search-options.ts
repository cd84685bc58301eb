export interface SearchEntry {
  /** Its address. */
  readonly id: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** The renderer builds the index with these, and the browser reads it with the same. */
export const SEARCH_OPTIONS = {
  fields: ["title", "text", "page"],
  storeFields: ["page", "title", "text"],
  /** `external_id` is found as a whole and by its parts. */
  tokenize: (text: string) =>
    text.split(/[^\p{L}\p{N}_]+/u).flatMap((word) => (word.includes("_") ? [word, ...word.split("_")] : word)),
  searchOptions: { boost: { title: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: "AND" as const },
};
