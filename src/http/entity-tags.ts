import { hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { type Precondition, problem } from "../problems.ts";
import { type Coding, codingsFor } from "./negotiate.ts";

/** Returns a strong entity tag (RFC 9110, 8.8.3). The same representation has the same tag on every replica. */
export function entityTag(representation: string | Buffer): string {
  return tagOfHash(hash("sha256", representation, "base64url"));
}

/** Returns the entity tag of the representation with this SHA-256, in base64url. */
export function tagOfHash(sha256: string): string {
  return `"${sha256.slice(0, 27)}"`;
}

/** Returns the entity tag of the same representation in a coding. Each coding has a tag of its own (RFC 9110, 8.8.3.3). */
export function codedTag(tag: string, coding: Coding): string {
  return coding === "identity" ? tag : `${tag.slice(0, -1)}-${coding}"`;
}

/**
 * Returns the entity tag of a view. The `volatile` members, which change by the clock alone, get their own part after a
 * dot: when they change, a GET no longer gets 304, but `ifMatch` ignores that part.
 */
export function viewTag(view: unknown, volatile: readonly string[] = []): string {
  if (volatile.length === 0 || typeof view !== "object" || view === null) return entityTag(JSON.stringify(view));
  const tagWith = (isVolatile: boolean) => {
    const members = Object.entries(view).filter(([name]) => volatile.includes(name) === isVolatile);
    return entityTag(JSON.stringify(Object.fromEntries(members)));
  };
  return `${tagWith(false)}.${tagWith(true)}`.replace('"."', ".");
}

/**
 * Returns the precondition of an If-Match header (RFC 9110, 13.1.1). A tag of any coding names its representation. Call it
 * with views that have no volatile members.
 */
export function ifMatch(header: string | undefined): Precondition {
  if (header === undefined) return () => undefined;
  return (views, others = []) => {
    const tags = [...views().map((view) => entityTag(JSON.stringify(view))), ...others];
    if (header.trim() === "*") return;
    const listed = tagsIn(header.replaceAll(/\.[\w-]+"/g, '"'));
    if (listed.some((tag) => tags.includes(tag) || tags.includes(tag.replace(/-(?:br|gzip)"$/, '"')))) return;
    throw problem("version_mismatch", mismatch(listed, tags[0]!), { members: { current_etag: tags[0] } });
  };
}

/**
 * Compares If-None-Match with a resource's entity tag, weakly (RFC 9110, 13.1.2). Returns the tag for the 304: that of the
 * client's copy, in whatever coding it is. Undefined if the client has no current copy in a coding that Accept-Encoding
 * takes. Unlike koa's `ctx.fresh`, ignores Cache-Control: fetch() sends `no-cache` with every If-None-Match.
 */
export function keptTag(headers: IncomingHttpHeaders, tag: string): string | undefined {
  const list = headers["if-none-match"];
  if (list === undefined) return undefined;
  if (list.trim() === "*") return tag;
  const listed = new Set(tagsIn(list).map((each) => each.replace(/^W\//, "")));
  const coded = codingsFor(headers["accept-encoding"]).map((coding) => codedTag(tag, coding));
  return coded.find((each) => listed.has(each));
}

/** Says why none of the tags in an If-Match names the current one. It compares strongly: a weak tag never does. */
function mismatch(listed: readonly string[], current: string): string {
  if (listed.length === 0)
    return `If-Match has no entity tag in double quotes. Send the ETag as you received it: ${current}.`;
  if (listed.some((tag) => tag.startsWith("W/")))
    return `If-Match has a weak entity tag (W/"…"), which never matches (RFC 9110, 13.1.1). The ETag was strong when it was sent: a proxy that compresses responses, such as nginx, made it weak. Read the resource without Accept-Encoding, or remove W/ from its ETag, and send your change again if it is still right.`;
  return "The resource has changed since you read it. Read it again, then decide whether to send your change again.";
}

/** Returns the entity tags that a header lists, with the mark of weak ones. */
function tagsIn(list: string): string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? [];
}
