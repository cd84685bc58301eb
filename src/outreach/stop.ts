import { timingSafeEqual } from "node:crypto";
import type { AddressHash } from "./address-hash.ts";

/**
 * Returns the parameter of a stop link: whose messages to which address it stops, with a MAC. Nothing is stored, so the link
 * works after its candidate was erased.
 * @param address the address's hash.
 */
export function stopOf(addresses: Pick<AddressHash, "seal">, accountId: string, address: string): string {
  const what = `${accountId}.${address}`;
  return `${what}.${addresses.seal(what)}`;
}

/** Reads what `stopOf` returned. Returns undefined for anything else. */
export function readStop(
  addresses: Pick<AddressHash, "seal">,
  text: string,
): { readonly accountId: string; readonly address: string } | undefined {
  const [accountId = "", address = ""] = text.split(".", 2);
  const [given, right] = [Buffer.from(text), Buffer.from(stopOf(addresses, accountId, address))] as const;
  return given.length === right.length && timingSafeEqual(given, right) ? { accountId, address } : undefined;
}
