import type { Readable } from "node:stream";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { bundle, type PackFile } from "./bundle.ts";
import { nameFiles } from "./file-names.ts";
import { type PackAccount, renderPack } from "./render.ts";
import type { Pack } from "./schema.ts";
import { sheetOf } from "./sheet.ts";
import { typeset } from "./typeset.ts";
import { zipped } from "./zip.ts";

interface Dependencies {
  readonly store: CandidateStore;
  readonly contents: ContentStore;
  /** Returns the account's name, for the PDF. @throws problem store_unavailable */
  readonly accountName: (accountId: string) => Promise<string>;
  readonly clock: Clock;
}

/** A pack, and the document files for its ZIP. */
export interface ReadPack {
  readonly pack: Pack;
  readonly files: readonly PackFile[];
}

/** Reads a compliance pack once, then renders it in any format. */
export class PackService {
  readonly #store: CandidateStore;
  readonly #contents: ContentStore;
  readonly #accountName: (accountId: string) => Promise<string>;
  readonly #clock: Clock;

  constructor({ store, contents, accountName, clock }: Dependencies) {
    this.#store = store;
    this.#contents = contents;
    this.#accountName = accountName;
    this.#clock = clock;
  }

  /**
   * Two round trips, in parallel.
   * @throws problems not_found (also for another account's candidate), store_unavailable.
   */
  async read(accountId: string, candidateId: string): Promise<ReadPack> {
    const [record, name] = await Promise.all([this.#store.get(accountId, candidateId), this.#accountName(accountId)]);
    const account: PackAccount = { id: accountId, name };
    return { pack: renderPack(record, account, timestamp(this.#clock.now())), files: nameFiles(record.documents) };
  }

  /** Renders the pack as a PDF, in a thread of its own. */
  pdf({ pack }: ReadPack): Promise<Uint8Array> {
    return typeset(sheetOf(pack));
  }

  /** A ZIP of the PDF, the documents and a manifest, generated while it is read. Destroying it frees everything. */
  async zip({ pack, files }: ReadPack): Promise<Readable> {
    const pdf = await typeset(sheetOf(pack)); // first, so that a failure can still be answered as a problem
    return zipped((signal) => bundle({ pack, files, pdf, contents: this.#contents }, signal));
  }
}
