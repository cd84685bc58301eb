import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { domainToASCII } from "node:url";
import validator from "validator";
import { comparable } from "../candidates/outreach.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import type { Mongo } from "../infra/mongo.ts";

/** Reads, or creates, this installation's key for address hashes. Every backup has it. @throws problem store_unavailable */
export async function loadAddressHash(mongo: Mongo, random: (bytes: number) => Buffer): Promise<AddressHash> {
  const keys = new BoundedCollection<{ _id: "address_key"; key: string }>(mongo, "meta");
  const found = await keys.findOne({ _id: "address_key" });
  if (found !== null) return new AddressHash(Buffer.from(found.key, "base64"));
  await keys.insertIfAbsent({ _id: "address_key", key: random(32).toString("base64") });
  return loadAddressHash(mongo, random);
}

/**
 * Hashes addresses for comparison, with HMAC-SHA256: without the key nobody can guess an address from its hash. All
 * spellings of one mailbox have the same hash: letter case, what follows a plus, quotes, and the form of an internationalised
 * domain make no difference, nor do dots at providers that ignore them.
 */
export class AddressHash {
  readonly #key: Buffer;

  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Returns the hash, with a prefix that no address begins with. */
  of(email: string): string {
    const mailbox = createHash("sha256").update(mailboxOf(email)).digest("base64url");
    return `~${createHmac("sha256", this.#key).update(mailbox).digest("base64url")}`;
  }

  /**
   * Returns the parameter of a stop link: whose messages to which address it stops, with a MAC (HMAC-SHA256). Nothing is
   * stored, so the link works after its candidate was erased. @param address the address's hash.
   */
  sealed(accountId: string, address: string): string {
    const text = `${accountId}.${address}`;
    return `${text}.${createHmac("sha256", this.#key).update(`seal ${text}`).digest("base64url")}`;
  }

  /** Reads what `sealed` returned. Returns undefined for anything else. */
  opened(text: string): { readonly accountId: string; readonly address: string } | undefined {
    const [accountId = "", address = ""] = text.split(".", 2);
    const [given, right] = [Buffer.from(text), Buffer.from(this.sealed(accountId, address))] as const;
    return given.length === right.length && timingSafeEqual(given, right) ? { accountId, address } : undefined;
  }
}

function mailboxOf(email: string): string {
  const at = email.lastIndexOf("@");
  const quoted = /^"(.*)"$/s.exec(email.slice(0, at))?.[1]?.replaceAll(/\\(.)/gs, "$1");
  const local = (quoted ?? email.slice(0, at)).normalize("NFKC").replace(/(?<=.)\+.*$/s, "");
  const address = `${local}@${domainToASCII(email.slice(at + 1)) || email.slice(at + 1)}`;
  return atProvider(validator.normalizeEmail(address, { yahoo_remove_subaddress: false }) || comparable(address));
}

/** Other domains of a provider, and its main one. A mailbox has the same name at each. */
const SAME_DOMAINS: Readonly<Record<string, string>> = {
  "protonmail.com": "proton.me",
  "pm.me": "proton.me",
  "me.com": "icloud.com",
  "mac.com": "icloud.com",
};

/** Adds what validator does not know of providers. Fastmail delivers anything@NAME.fastmail.com to NAME@fastmail.com. */
function atProvider(address: string): string {
  const at = address.lastIndexOf("@");
  const [given, host] = [address.slice(0, at), address.slice(at + 1)];
  const [, owner, fastmail] = /^([^.]+)\.(fastmail\.(?:com|fm))$/.exec(host) ?? [];
  if (fastmail !== undefined) return `${owner}@${fastmail}`;
  const domain = SAME_DOMAINS[host] ?? host;
  if (domain === "proton.me") return `${given.replaceAll(/[._-]/g, "")}@${domain}`;
  return `${domain === "yandex.ru" ? given.replaceAll("-", ".") : given}@${domain}`;
}
