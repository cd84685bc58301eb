import { isIP, isIPv6 } from "node:net";

/** An IPv4 address as IPv6: mapped (RFC 4291, 2.5.5.2) or from a NAT64 (RFC 6052), as URL writes it. */
const IPV4_AS_IPV6 = /^(?:::ffff|64:ff9b:):([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;

/**
 * Returns the part of an IP address that a client cannot easily change: all of an IPv4 address, or the /64 of an IPv6
 * address, because a host can use any of the 2^64 addresses in its /64. Returns any other text unchanged.
 */
export function addressBlock(address: string): string {
  const plain = address.replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  // URL writes every IPv6 address in its canonical form.
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const [, high, low] = IPV4_AS_IPV6.exec(canonical)?.map((part) => Number.parseInt(part, 16)) ?? [];
  if (high !== undefined && low !== undefined) return [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  const [head = "", tail] = canonical.split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}

/**
 * Returns a client's address as the log shows it. `truncated` leaves out what tells one customer of a provider from
 * another: it is the /24 of an IPv4 address, or the /48 of an IPv6 address. Undefined for anything that is not an address.
 */
export function loggedAddress(address: string | undefined, mode: "truncated" | "full"): string | undefined {
  if (address === undefined || isIP(address) === 0) return undefined;
  const block = addressBlock(address);
  if (mode === "full") return isIP(block) === 4 ? block : address;
  return block.replace(/\.\d+$/, ".0/24").replace(/[\da-f]+::\/64$/, ":/48");
}
