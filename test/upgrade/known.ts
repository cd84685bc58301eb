/** Members that the earlier version does not know. Clients ignore what they do not know; ETags do not cover them. */
const ADDED = new Set(["outreach", "outreach_enabled", "reference_questions"]);

/** A candidate, or settings, as a client of the earlier version reads it. */
export function known(body: object): object {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !ADDED.has(name)));
}
