import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** The ranges of IPv4 addresses as IPv6: mapped (RFC 4291, 2.5.5.2) or from a NAT64 (RFC 6052). */
const IPV4_AS_IPV6 = ["::ffff:0:0/96", "64:ff9b::/96"].map((range) => ipaddr.IPv6.parseCIDR(range));

/**
 * Returns the part of an IP address that a client cannot easily change: all of an IPv4 address, or the /64 of an IPv6
 * address, because a host can use any of the 2^64 addresses in its /64. Returns any other text unchanged.
 */
export function addressBlock(address: string): string {
  const plain = address.replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  const ip = ipaddr.IPv6.parse(plain);
  if (IPV4_AS_IPV6.some((range) => ip.match(range))) return ip.toByteArray().slice(-4).join(".");
  return `${ip.toNormalizedString().split(":").slice(0, 4).join(":")}::/64`;
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
