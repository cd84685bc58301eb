import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** Characters that end a user or a password too early, are lost, or are refused by a driver. */
const RESERVED = /[/?#@[\]\\\s]/g;

export const UNREADABLE = "must be a valid URL: check its host and its port";

/** One or several hosts, each with a port or without. */
const HOSTS = /^(\[[^\]]*\]|[^:[\],]*)(:\d*)?(,(\[[^\]]*\]|[^:[\],]*)(:\d*)?)*$/;

/** A password in a query that a raw `&` ends too early: what follows has no value. */
const CUT_IN_QUERY = /[?&][^=&#]*(?:pass|token|properties)[^=&#]*=[^#]*&[^=&#]+(?:[&#]|$)/i;

/**
 * Returns the URL with its users and passwords hidden, for logs and errors: those before its host, and those in its query,
 * with the parts that follow them and have no value.
 */
export function withoutCredentials(url: string): string {
  return url
    .replace(CUT_IN_QUERY, (query) => query.replaceAll(/&[^=&#]+(?=[&#]|$)/g, "&…"))
    .replace(/([?&][^=&#]*(?:user|pass|token|properties)[^=&#]*)=[^&#]*/gi, "$1=…")
    .replace(/\/\/[^]*@/, "//…@");
}

/**
 * Checks the user and the password in the URL of a setting. Returns the URL with the colons in its password, and what is not
 * ASCII, percent-encoded. RFC 3986 (3.2.1) allows those colons, but not every driver does.
 * @throws {Error} that names the characters to percent-encode, and repeats nothing else of the URL.
 */
export function readUrl(url: string): string {
  const [scheme = "", rest = ""] = url.split(/(?<=^[^/]*:\/\/)/);
  const user = userOf(scheme, rest);
  const isCut = CUT_IN_QUERY.test(rest.slice(user.length));
  const inRest = [...(rest.match(/#/) ?? []), ...(isCut ? ["&"] : []), ...(isEncoded(rest) ? [] : ["%"])];
  const faults = [...(user.match(RESERVED) ?? []), ...inRest];
  if (faults.length > 0) {
    const name = (character: string) => (/\s/.test(character) ? "white space" : character);
    const names = [...new Set(faults)].map((character) => `${name(character)} as ${encodeURIComponent(character)}`);
    throw new Error(`percent-encode the user and the password: write ${names.join(", ")}`);
  }
  const hosts = /^@?([^/?]*)/.exec(rest.slice(user.length))?.[1] ?? "";
  if (scheme !== "file://" && !HOSTS.test(hosts)) throw new Error(UNREADABLE); // a driver would repeat a password without its @
  const [name = "", ...password] = user.split(":");
  const colon = password.length > 0 ? ":" : "";
  const ascii = (name + colon + password.join("%3A")).replace(/[^ -~]+/g, encodeURIComponent);
  return scheme + ascii + rest.slice(user.length);
}

/** Returns the user and the password. If a raw `/`, `?` or `#` in them ends them too early, they reach to the last `@`. */
function userOf(scheme: string, rest: string): string {
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? "";
  const end = Math.max(0, authority.lastIndexOf("@"));
  const untilLast = rest.slice(0, Math.max(0, rest.lastIndexOf("@")));
  if (scheme === "file://" || untilLast.length <= authority.length) return authority.slice(0, end);
  const isInQuery = /^[^@]*@?[^@]*\?[^#]*=/.test(untilLast) && HOSTS.test(authority.slice(end).replace("@", ""));
  return isInQuery ? authority.slice(0, end) : untilLast;
}

/** Returns whether the percent-encoding of a text is complete, and UTF-8. */
export function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** A range of addresses: the first one, and the number of bits that all have in common. */
export type Network = ReturnType<typeof ipaddr.parseCIDR>;

/** Reads WEBHOOK_ALLOWED_NETWORKS. @throws {Error} that says what it must be */
export function networksIn(text: string): Network[] {
  return text
    .split(/[\s,]+/)
    .filter((part) => part !== "")
    .map((part) => {
      const network = isIP(part) === 0 ? part : `${part}/${isIP(part) === 4 ? 32 : 128}`;
      if (!ipaddr.isValidCIDR(network))
        throw new Error(`must be networks such as 10.1.0.0/16, not ${JSON.stringify(part)}`);
      return ipaddr.parseCIDR(network);
    });
}
