/** Members that the earlier version does not know, or says in other words. Clients ignore what they do not know. */
const ADDED = new Set([
  "outreach",
  "outreach_enabled",
  "decided",
  "hold",
  "erases_at",
  "keys",
  "history",
  "history_complete",
  "reference_questions",
  "message_language",
  "next_at",
  "reason",
  "message",
  "state_reason",
]);

/** A candidate, settings or a pack, as a client of the earlier version reads it. */
export function known<T>(body: T): T {
  const text = JSON.stringify(body, function (this: { readonly object?: string }, name: string, value: unknown) {
    if (name === "language" && this.object !== "assistant_settings") return undefined;
    if (name === "metadata" && this.object === undefined) return undefined; // of the person in a pack
    return ADDED.has(name) ? undefined : value;
  });
  return JSON.parse(text) as T;
}
