import { isIPv6 } from "node:net";

const MAPPED_IPV4 = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/**
 * The part of an address that one customer of a network can hardly change: an IPv4 address whole, of an IPv6 address its /64,
 * since every host has 2^64 of them to choose from. Anything else comes back as it is.
 */
export function addressBlock(address: string): string {
  const plain = address.replace(MAPPED_IPV4, "").replace(/%.*$/, "");
  if (!isIPv6(plain)) return plain;
  // URL writes every IPv6 address the one canonical way.
  const [head = "", tail] = new URL(`http://[${plain}]`).hostname.slice(1, -1).split("::");
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => "0");
  return `${[...before, ...zeros, ...after].slice(0, 4).join(":")}::/64`;
}
