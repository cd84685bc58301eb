import { typeidUnboxed } from "typeid-js";

export type IdPrefix = "cand" | "doc" | "ref" | "acct" | "key" | "grant" | "req" | "audit";

/** Makes a new identifier of a kind: `newId("cand")` gives `cand_01j…`. */
export type NewId = (prefix: IdPrefix) => string;

/** TypeID: the prefix and a UUIDv7 in base32, sortable by time of making. */
export const newTypeId: NewId = (prefix) => typeidUnboxed(prefix);

/** Whether `text` is written like an identifier of that kind; saves a look-up for one that cannot exist. */
export function looksLikeId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && /^[0-7][0-9a-hjkmnp-tv-z]{25}$/.test(text.slice(prefix.length + 1));
}
