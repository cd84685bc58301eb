/** The pasted API key, and after it others of its account, one a line. They are gone when the tab closes. */
const NAME = "api-key";

/** Returns the keys that were entered in this tab: the pasted key first. */
export function storedKeys(): string[] {
  return sessionStorage.getItem(NAME)?.split("\n") ?? [];
}

/** Stores the keys in this tab. An empty list removes them. */
export function storeKeys(keys: readonly string[]): void {
  if (keys.length === 0) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, keys.join("\n"));
}

export function sessionKey(): string {
  return storedKeys()[0] ?? "";
}

/** Keeps the key, without spaces around it. An empty one forgets the last. The other keys go with the one that they belong to. */
export function keepSessionKey(key: string): void {
  const trimmed = key.trim();
  if (trimmed !== sessionKey()) storeKeys(trimmed === "" ? [] : [trimmed]);
}

/** Returns what is wrong with a text that cannot be a key. fetch() would throw for it, as if the network were gone. */
export function faultOf(key: string): string | undefined {
  if (key === "") return "Paste a key.";
  return /^[\x21-\x7e]+$/.test(key) ? undefined : "A key has letters, digits and underscores only.";
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
