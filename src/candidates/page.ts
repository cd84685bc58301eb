import { RenderedJson } from "../infra/json-parts.ts";
import type { FeedEntry, FeedPage, FeedQuery } from "./feed.ts";
import type { CandidateReader } from "./reader.ts";
import { pageTag, renderPage } from "./rows.ts";

/**
 * Reads a page of the feed, or of a search, which has no next page. The rows are not read if the client has them.
 * @param clientHas tells whether the client has the page with this entity tag (If-None-Match).
 */
export async function readPage(
  reader: CandidateReader,
  query: FeedQuery,
  cursorAfter: (page: FeedPage<FeedEntry>) => string,
  clientHas?: (tag: string) => boolean,
): Promise<RenderedJson> {
  const hasNext = query.words === undefined;
  if (clientHas !== undefined) {
    const { rows, more } = await reader.positions(query);
    const page = { rows, more: more && hasNext };
    const tag = pageTag(page, cursorAfter(page));
    if (clientHas(tag)) return new RenderedJson(Buffer.alloc(0), tag);
  }
  const { rows, more } = await reader.feed(query);
  const page = { rows, more: more && hasNext };
  return renderPage(page, cursorAfter(page));
}
