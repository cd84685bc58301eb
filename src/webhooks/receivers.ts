import { resolve4, resolve6 } from "node:dns/promises";
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Network } from "../urls.ts";
import { MAX_URL_LENGTH } from "./schema.ts";

/** An address that a nudge may be sent to, as `lookup` of node:net gives it. */
export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The name of the receiver has no address, or one that nudges may not be sent to. */
export class AddressRefused extends Error {}

export type Receivers = ReturnType<typeof receiverRules>;

const LOOPBACK: readonly Address[] = [
  { address: "127.0.0.1", family: 4 },
  { address: "::1", family: 6 },
];
/** All that is routed in the internet (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/**
 * Decides where nudges may be sent, so that no client makes the service connect to its own network.
 * @param isProduction whether loopback is refused too.
 * @param allowed networks that nudges may be sent to although they are not public, with http too.
 */
export function receiverRules({ isProduction, allowed }: { isProduction: boolean; allowed: readonly Network[] }) {
  function isAllowed(address: string): boolean {
    const parsed = ipaddr.process(address);
    if (!isProduction && parsed.range() === "loopback") return true;
    return allowed.some((network) => network[0].kind() === parsed.kind() && parsed.match(network));
  }

  /** Returns what is wrong with a client's URL: "must be …". What its name leads to is looked up at each delivery. */
  function faultOf(text: string): string | undefined {
    const url = urlIn(text);
    if (url === undefined) return "must be an absolute URL, for example https://ats.example.com/hooks";
    const { href, protocol, username, password, hostname, port } = url;
    if (href.length > MAX_URL_LENGTH) return "must be at most 2,000 characters long when it is percent-encoded";
    if (protocol !== "https:" && protocol !== "http:") return "must begin with https://";
    if (username !== "" || password !== "") return "must not have a user or password; verify the signature instead";
    if (port === "0") return "must have a port from 1 to 65535";
    const address = literalIn(hostname);
    if (address !== undefined && isAllowed(address)) return undefined;
    if (address !== undefined) return "must have a name for its host, not an address";
    const isNear = (!isProduction && isLocal(hostname)) || allowed.length > 0;
    return protocol === "https:" || isNear ? undefined : "must begin with https://";
  }

  /**
   * Returns the addresses of a URL's host, as they are now. Connect to no other. The hosts file of the machine is not asked, because
   * a slow answer of DNS would then hold up all other lookups of the process.
   * @throws {AddressRefused}
   */
  async function addressesOf({ protocol, hostname }: URL): Promise<readonly Address[]> {
    const literal = literalIn(hostname);
    const may = ({ address }: Address) => isAllowed(address) || (protocol === "https:" && isPublic(address));
    const local = isLocal(hostname) ? LOOPBACK.filter(may) : undefined;
    const found = local ?? (literal === undefined ? await lookedUp(hostname) : [addressOf(literal)]);
    const refused = found.filter((each) => !may(each)).map(({ address }) => address);
    if (found.length === 0 || refused.length > 0) throw new AddressRefused(refused.join(", ") || "no address");
    return found;
  }

  return { faultOf, addressesOf };
}

function isPublic(text: string): boolean {
  const address = ipaddr.parse(text);
  return address.range() === "unicast" && (address.kind() === "ipv4" || address.match(GLOBAL_UNICAST));
}

/** Not by `URL.canParse`: in Node.js 20, after many calls, it begins to refuse hosts with letters beyond ASCII. */
function urlIn(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Returns the address that stands in the place of a host's name. URL has read its other forms: 0x7f000001 is 127.0.0.1 by now. */
function literalIn(hostname: string): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(text) === 0 ? undefined : text;
}

/** RFC 6761, 6.3. */
function isLocal(hostname: string): boolean {
  return /(^|\.)localhost\.?$/.test(hostname);
}

async function lookedUp(hostname: string): Promise<Address[]> {
  const all = await Promise.allSettled([resolve4(hostname), resolve6(hostname)]);
  const found = all.flatMap((each) => (each.status === "fulfilled" ? each.value.map(addressOf) : []));
  const faults = all.flatMap((each) => (each.status === "rejected" ? [String(each.reason)] : []));
  if (found.length === 0) throw new AddressRefused(faults.join(", "));
  return found;
}

function addressOf(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}
