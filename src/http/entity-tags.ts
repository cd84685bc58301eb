import { createHash } from "node:crypto";
import type { Precondition } from "../precondition.ts";
import { problem } from "../problems.ts";

/** A strong entity tag of a representation (RFC 9110, 8.8.3): the same bytes give the same tag on every replica. */
export function entityTag(representation: string): string {
  return `"${createHash("sha256").update(representation).digest("base64url").slice(0, 27)}"`;
}

/**
 * The entity tag of a view. The `volatile` members, which change by the clock alone, get a part of their own after a dot. So
 * a GET is not answered 304 once they have changed, and a write is not refused because of them: `ifMatch` ignores that part.
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

/** The precondition of an If-Match header (RFC 9110, 13.1.1), by strong comparison. Its views leave out volatile members. */
export function ifMatch(header: string | undefined): Precondition {
  if (header === undefined) return () => undefined;
  return (views, others = []) => {
    const tags = [...views.map((view) => entityTag(JSON.stringify(view))), ...others];
    if (listsTag(header.replaceAll(/\.[\w-]+"/g, '"'), tags, "strong")) return;
    throw problem("version_mismatch", "It has changed since you read it. Read it again, then decide again.", {
      members: { current_etag: tags[0] },
    });
  };
}

/**
 * Tells whether the client already has the representation with this tag, by its If-None-Match header (RFC 9110, 13.1.2). A
 * weak tag counts as the strong one (8.8.3.2). The request's Cache-Control plays no part: fetch() sends `no-cache` beside
 * every If-None-Match.
 */
export function ifNoneMatch(header: string | undefined): (tag: string) => boolean {
  if (header === undefined) return () => false;
  return (tag) => listsTag(header, [tag], "weak");
}

/** Whether a list of entity tags, as both headers carry it, contains one of these or is `*`. */
function listsTag(list: string, tags: readonly string[], comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  const listed = list.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return listed.some((tag) => tags.includes(comparison === "weak" ? tag.replace(/^W\//, "") : tag));
}
