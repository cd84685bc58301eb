import { typeidUnboxed } from "typeid-js";

export type IdPrefix = "cand" | "doc" | "ref" | "acct" | "key" | "grant" | "req" | "audit";

/** Makes a new identifier: `newId("cand")` returns `cand_01j…`. */
export type NewId = (prefix: IdPrefix) => string;

/** Makes a TypeID: the prefix and a UUIDv7 in base32. TypeIDs sort by the time they were made. */
export const newTypeId: NewId = (prefix) => typeidUnboxed(prefix);

/** Returns whether `text` has the form of an identifier with that prefix. Saves the look-up of one that cannot exist. */
export function looksLikeId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1));
}
