import { keepSessionKey, OTHER_KEYS, sessionKey } from "../session-key.ts";

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
