import type { Readable } from "node:stream";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import { jsonBytes } from "../infra/json-parts.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { DocumentRecord } from "../candidates/record.ts";
import { bundle } from "./bundle.ts";
import { nameFiles } from "./file-names.ts";
import { renderPack } from "./render.ts";
import type { Pack } from "./schema.ts";
import { typeset } from "./typeset.ts";
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
    const { store, accountName, clock } = this.#dependencies;
    const [record, name] = await Promise.all([store.get(accountId, candidateId), accountName(accountId)]);
    const pack = renderPack(record, { id: accountId, name }, timestamp(clock.now()));
    return { pack, documents: record.documents };
  }

  /**
   * Renders the pack as a PDF, in a process of its own.
   * @throws problem pack_unavailable
   */
  async pdf({ pack }: ReadPack, left: AbortSignal): Promise<Uint8Array> {
    return typeset(await jsonBytes(pack), { accountId: pack.account.id, left });
  }

  /**
   * A ZIP of the PDF, the documents and a manifest, generated while it is read. Destroying it frees everything.
   * @throws problem pack_unavailable
   */
  async zip(read: ReadPack, left: AbortSignal): Promise<Readable> {
    const pdf = await this.pdf(read, left); // first, so that a failure can still become a problem response
    const files = nameFiles(read.documents);
    const { contents } = this.#dependencies;
    return zipped((signal) => bundle({ pack: read.pack, files, pdf, contents }, signal));
  }
}
