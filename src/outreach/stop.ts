import type { AddressHash } from "./address-hash.ts";

/**
 * Returns what a stop link says of itself: whose messages to which address it stops. So it works after its candidate was
 * erased and nothing is stored of the link.
 * @param address the address's hash.
 */
export function stopOf(addresses: Pick<AddressHash, "seal">, accountId: string, address: string): string {
  const what = `${accountId}.${address}`;
  return `${what}.${addresses.seal(what)}`;
}

/** Reads what `stopOf` returned. Undefined if it is anything else. */
export function readStop(
  addresses: Pick<AddressHash, "seal">,
  text: string,
): { readonly accountId: string; readonly address: string } | undefined {
  const [accountId = "", address = ""] = text.split(".", 2);
  return text === stopOf(addresses, accountId, address) ? { accountId, address } : undefined;
}
