import { createHash, type Hash } from "node:crypto";
import type { Precondition } from "../precondition.ts";
import { problem } from "../problems.ts";

/** Returns a strong entity tag (RFC 9110, 8.8.3). The same representation has the same tag on every replica. */
export function entityTag(representation: string): string {
  return asTag(createHash("sha256").update(representation));
}

/** Returns the entity tag of the representation that was hashed. */
export function asTag(hash: Hash): string {
  return `"${hash.digest("base64url").slice(0, 27)}"`;
}

/**
 * Returns the entity tag of a view. The `volatile` members, which change by the clock alone, get their own part after a
 * dot. When they change, a GET is no longer answered with 304. A write is not refused because of them: `ifMatch`
 * ignores that part.
 */
export function viewTag(view: unknown, volatile: readonly string[] = []): string {
  if (volatile.length === 0 || typeof view !== "object" || view === null) return entityTag(JSON.stringify(view));
  const [lasting, changing] = [false, true].map((wanted) =>
    entityTag(
      JSON.stringify(Object.fromEntries(Object.entries(view).filter(([name]) => volatile.includes(name) === wanted))),
    ),
  );
  return `${lasting}.${changing}`.replace('"."', ".");
}

/**
 * Returns the precondition of an If-Match header (RFC 9110, 13.1.1). Call it with views that have no volatile members.
 */
export function ifMatch(header: string | undefined): Precondition {
  if (header === undefined) return () => undefined;
  return (views, others = []) => {
    const tags = [...views.map((view) => entityTag(JSON.stringify(view))), ...others];
    if (listsTag(header.replaceAll(/\.[\w-]+"/g, '"'), tags, "strong")) return;
    throw problem(
      "version_mismatch",
      isQuoted(header)
        ? "The resource has changed since you read it. Read it again, then decide whether to send your change again."
        : `If-Match has no entity tag in double quotes. Send the ETag as you received it: ${tags[0]}.`,
      { members: { current_etag: tags[0] } },
    );
  };
}

/**
 * Returns a function that tells whether the If-None-Match header (RFC 9110, 13.1.2) contains a tag, by weak comparison
 * (8.8.3.2). The request's Cache-Control is ignored: fetch() sends `no-cache` with every If-None-Match.
 */
export function ifNoneMatch(header: string | undefined): (tag: string) => boolean {
  if (header === undefined) return () => false;
  return (tag) => listsTag(header, [tag], "weak");
}

function isQuoted(header: string): boolean {
  return /"[^"]*"/.test(header);
}

/** Returns whether a header's list of entity tags contains one of `tags`, or is `*`. */
function listsTag(list: string, tags: readonly string[], comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  const listed = list.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return listed.some((tag) => tags.includes(comparison === "weak" ? tag.replace(/^W\//, "") : tag));
}
