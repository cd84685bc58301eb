import type { Readable } from "node:stream";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { DocumentRecord } from "../candidates/record.ts";
import { bundle } from "./bundle.ts";
import { nameFiles } from "./file-names.ts";
import { type PackAccount, renderPack } from "./render.ts";
import type { Pack } from "./schema.ts";
import { type Reader, typeset } from "./typeset.ts";
import { zipped } from "./zip.ts";

interface Dependencies {
  readonly store: CandidateStore;
  readonly contents: ContentStore;
  /** Returns the account's name, for the PDF. @throws problem store_unavailable */
  readonly accountName: (accountId: string) => Promise<string>;
  readonly clock: Clock;
}

/** A pack, and the records of its documents. */
export interface ReadPack {
  readonly pack: Pack;
  readonly documents: readonly DocumentRecord[];
}

/** Reads a compliance pack once, then renders it in any format. */
export class PackService {
  readonly #dependencies: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * Two round trips, in parallel.
   * @throws problems not_found (also for another account's candidate), store_unavailable.
   */
  async read(accountId: string, candidateId: string): Promise<ReadPack> {
    const [record, name] = await Promise.all([
      this.#dependencies.store.reader.get(accountId, candidateId),
      this.#dependencies.accountName(accountId),
    ]);
    const account: PackAccount = { id: accountId, name };
    return {
      pack: renderPack(record, account, timestamp(this.#dependencies.clock.now())),
      documents: record.documents,
    };
  }

  /** Returns the pack as JSON. Other requests are served meanwhile. */
  json({ pack }: ReadPack): Promise<Buffer> {
    return jsonBytes(pack);
  }

  /**
   * Renders the pack as a PDF, in a process of its own.
   * @throws problem pack_unavailable
   */
  async pdf(read: ReadPack, left: AbortSignal): Promise<Uint8Array> {
    const reader: Reader = { accountId: read.pack.account.id, left };
    return typeset(await this.json(read), reader);
  }

  /**
   * A ZIP of the PDF, the documents and a manifest, generated while it is read. Destroying it frees everything.
   * @throws problem pack_unavailable
   */
  async zip(read: ReadPack, left: AbortSignal): Promise<Readable> {
    const pdf = await this.pdf(read, left); // first, so that a failure can still be answered as a problem
    const files = nameFiles(read.documents);
    return zipped((signal) => bundle({ pack: read.pack, files, pdf, contents: this.#dependencies.contents }, signal));
  }
}
