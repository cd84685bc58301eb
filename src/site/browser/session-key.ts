/** The API key that the reader has pasted. It stays in this tab: it is not stored elsewhere, and is gone when the tab closes. */
const NAME = "api-key";
/** The console keeps other keys of the same account here, as a JSON list. */
export const OTHER_KEYS = "console-other-keys";

/** Returns the pasted key, or an empty string. */
export function sessionKey(): string {
  return sessionStorage.getItem(NAME) ?? "";
}

/** Keeps the key, without spaces around it. An empty one forgets the last. The other keys go with the one that they belong to. */
export function keepSessionKey(key: string): void {
  const trimmed = key.trim();
  if (trimmed !== sessionKey()) sessionStorage.removeItem(OTHER_KEYS);
  if (trimmed === "") sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, trimmed);
}

/**
 * Reloads the page if the reader comes back to it and the key has changed since. The browser may show a page as it was
 * left, with a key that was forgotten on another page.
 */
export function followSessionKey(): void {
  let left = sessionKey();
  addEventListener("pagehide", () => (left = sessionKey()));
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted && sessionKey() !== left) location.reload();
  });
}
