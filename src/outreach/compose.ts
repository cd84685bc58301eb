import { hashOfAddress } from "../candidates/address.ts";
import type { PlannedMessage } from "../candidates/chase.ts";
import type { CandidateKey } from "../candidates/reader.ts";
import { type CandidateRecord, TO_CANDIDATE } from "../candidates/record.ts";
import type { LinkStore } from "./link-store.ts";
import { type Message, messageOf } from "./message.ts";
import type { AccountRules } from "./rules.ts";

interface Dependencies {
  readonly links: Pick<LinkStore, "add">;
  /** MAIL_FROM. */
  readonly mailFrom: string;
  /** PUBLIC_URL, without a slash at its end. */
  readonly publicUrl: string;
}

/** Makes messages, each with a link of its own. */
export class Composer {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Makes a link to the recipient's page. Returns its URL. One round trip. @throws problem store_unavailable */
  async newPage(key: CandidateKey, { to, email }: Pick<PlannedMessage, "to" | "email">): Promise<string> {
    const { links, publicUrl } = this.#dependencies;
    const token = await links.add({ ...key, to, address: hashOfAddress(email) });
    return `${publicUrl}/${to === TO_CANDIDATE ? "u" : "r"}/${token}`;
  }

  /** Makes a message that leads to `pageUrl`. */
  compose(
    what: { message: PlannedMessage; messageId: string; record: CandidateRecord; pageUrl: string },
    { assistant, name }: Pick<AccountRules, "assistant" | "name">,
  ): Message {
    const { mailFrom } = this.#dependencies;
    return messageOf({ ...what, assistant, accountName: name, mailFrom, stopUrl: `${what.pageUrl}/stop` });
  }
}
