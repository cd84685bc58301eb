import { timingSafeEqual } from "node:crypto";
import { type CandidateKey, TO_CANDIDATE } from "../candidates/record.ts";
import type { AddressHash } from "./address-hash.ts";
import type { LinkStore, NewPage } from "./link-store.ts";
import { type Ingredients, type Message, messageOf } from "./message.ts";
import type { AccountRules } from "./rules.ts";

interface Dependencies {
  readonly addresses: Pick<AddressHash, "seal">;
  readonly links: Pick<LinkStore, "add" | "drop">;
  /** MAIL_FROM. */
  readonly mailFrom: string;
  /** PUBLIC_URL, without a slash at its end. */
  readonly publicUrl: string;
}

/** What a message is made of, once it is recorded. */
interface Claimed extends Pick<Ingredients, "message" | "messageId" | "record"> {
  readonly page: NewPage;
}

/** Makes messages, each with a link of its own. */
export class Composer {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Makes a link to the recipient's page. One round trip.
   * @param address the hash of the recipient's address.
   * @returns the page's URL, that which stops the messages, and what removes the link again if it is not sent.
   * @throws problem store_unavailable
   */
  async newPage({ accountId, id }: CandidateKey, to: string, address: string): Promise<NewPage> {
    const { addresses, links, publicUrl } = this.#dependencies;
    const token = await links.add({ accountId, id, to, address });
    const url = `${publicUrl}/${to === TO_CANDIDATE ? "u" : "r"}/${token}`;
    return { url, stopUrl: `${url}/stop?of=${stopOf(addresses, accountId, address)}`, drop: () => links.drop(token) };
  }

  /** Makes the message of a claim. */
  compose(
    { message, messageId, record, page }: Claimed,
    { assistant, sender }: Pick<AccountRules, "assistant" | "sender">,
  ): Message {
    const { mailFrom, publicUrl } = this.#dependencies;
    const { host } = new URL(publicUrl);
    const urls = { pageUrl: page.url, stopUrl: page.stopUrl };
    return messageOf({ message, messageId, record, assistant, sender, host, mailFrom, ...urls });
  }
}

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
