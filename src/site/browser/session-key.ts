/** The API key that the reader has pasted. It stays in this tab: it is not stored elsewhere, and is gone when the tab closes. */
const NAME = "api-key";
/** The console keeps other keys of the same account here, as a JSON list. */
const OTHER_KEYS = "console-other-keys";

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

/** Returns the keys that were entered in this tab: the pasted key first. The browser forgets them when the tab is closed. */
export function storedKeys(): string[] {
  const key = sessionKey();
  return key === "" ? [] : [key, ...otherKeys()];
}

/** Stores the keys in this tab. An empty list removes them. */
export function storeKeys([key, ...others]: readonly string[]): void {
  keepSessionKey(key ?? "");
  if (others.length === 0) sessionStorage.removeItem(OTHER_KEYS);
  else sessionStorage.setItem(OTHER_KEYS, JSON.stringify(others));
}

function otherKeys(): string[] {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(OTHER_KEYS) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}
