import { createHash } from "node:crypto";
import { problem } from "../problems.ts";

/**
 * Holds a write to what its client has seen. Given the views of the resource as they are now (a document's own, its
 * candidate's), and the entity tags of what is no view (content), it passes when one of them is the one the client named, or
 * when it named none.
 * @throws problem version_mismatch
 */
export type Precondition = (views: readonly unknown[], tags?: readonly string[]) => void;

/** A strong entity tag of a representation (RFC 9110, 8.8.3): the same bytes, the same tag, on every replica. */
export function entityTag(representation: string): string {
  return `"${createHash("sha256").update(representation).digest("base64url").slice(0, 27)}"`;
}

/**
 * The entity tag of a view. Members that the clock alone moves get a part of their own, after a dot: so a GET is not answered
 * 304 once they have moved, and a change is not refused because they have (`ifMatch` leaves that part out).
 */
export function viewTag(view: unknown, moving: readonly string[] = []): string {
  if (moving.length === 0 || typeof view !== "object" || view === null) return entityTag(JSON.stringify(view));
  const [lasting, moved] = [false, true].map((moves) =>
    entityTag(JSON.stringify(Object.fromEntries(Object.entries(view).filter(([name]) => moving.includes(name) === moves)))),
  );
  return `${lasting}.${moved}`.replace('"."', ".");
}

/** The precondition of an If-Match header (RFC 9110, 13.1.1); strong comparison. Its views are without what the clock moves. */
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
 * Whether a list of entity tags, as If-Match and If-None-Match carry it (RFC 9110, 13.1), has one of these or is `*`. A weak
 * tag in the list counts as the strong one for If-None-Match only (8.8.3.2). Cache-Control of the request plays no part:
 * fetch() sends `no-cache` beside every If-None-Match.
 */
export function listsTag(list: string, tags: readonly string[], comparison: "strong" | "weak"): boolean {
  if (list.trim() === "*") return true;
  const listed = list.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return listed.some((tag) => tags.includes(comparison === "weak" ? tag.replace(/^W\//, "") : tag));
}
