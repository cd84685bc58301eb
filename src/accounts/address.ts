import { isIPv6 } from "node:net";

const MAPPED_IPV4 = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/**
 * Returns the part of an IP address that a client cannot easily change: all of an IPv4 address, or the /64 of an IPv6
 * address, because a host can use any of the 2^64 addresses in its /64. Returns any other text unchanged.
 */
export function addressBlock(address: string): string {
  const plain = address.replace(MAPPED_IPV4, "").replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  // URL writes every IPv6 address in its canonical form.
  const [head = "", tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
