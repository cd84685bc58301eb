import { createHash } from "node:crypto";
import { RenderedJson } from "../infra/rendered-json.ts";
import type { FeedPage, FeedEntry } from "./feed.ts";
import { LIST_FORM } from "./row.ts";

/** Puts a page of the list (CandidateList) together from its rows, which are JSON already. */
export function renderPage({ rows, more }: FeedPage, cursor: string): RenderedJson {
  const shown = rows.flatMap(({ json, ...place }) => (json === undefined ? [] : [{ ...place, json }]));
  const parts: Uint8Array[] = [Buffer.from('{"object":"list","data":[')];
  for (const { json } of shown) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(json);
  }
  parts.push(Buffer.from(`],"has_more":${more},"cursor":${JSON.stringify(cursor)}}`));
  return new RenderedJson(Buffer.concat(parts), pageTag({ rows: shown, more }, cursor));
}

const COMMA = Buffer.from(",");

/**
 * Returns the strong entity tag of a page. It follows from all that the page's bytes follow from: the form, the versions of
 * its rows, and the paging members. The rows' places are in it because a version number comes again with other content
 * after a restore from a backup.
 */
export function pageTag({ rows, more }: FeedPage<FeedEntry>, cursor: string): string {
  const versions = rows.map(({ change, version }) => `${change} ${version}`);
  const hash = createHash("sha256").update([LIST_FORM, more, cursor, ...versions].join("\n"));
  return `"${hash.digest("base64url").slice(0, 27)}"`;
}
