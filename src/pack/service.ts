import type { Readable } from "node:stream";
import type { AccountStore } from "../accounts/store.ts";
import type { DocumentRecord } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import { type Assistant, ASSISTANT_DEFAULTS } from "../settings/schema.ts";
import type { SettingsStore } from "../settings/store.ts";
import { bundle } from "./bundle.ts";
import { nameFiles } from "./file-names.ts";
import { renderPack } from "./render.ts";
import type { Pack } from "./schema.ts";
import { printedIn } from "./wording.ts";
import { zipped } from "./zip.ts";

/** A pack, and the records of its documents. */
interface ReadPack {
  readonly pack: Pack;
  readonly documents: readonly DocumentRecord[];
}

export type PackService = ReturnType<typeof packService>;

interface PackServiceOptions {
  readonly store: CandidateStore;
  readonly contents: ContentStore;
  /** For the name of the account. */
  readonly accounts: Pick<AccountStore, "get">;
  /** For the language of the PDF. */
  readonly assistant: Pick<SettingsStore<Assistant>, "get">;
  readonly clock: Clock;
}

export function packService({ store, contents, accounts, assistant, clock }: PackServiceOptions) {
  return {
    /**
     * Three round trips, in parallel.
     * @throws problems not_found (also for another account's candidate), store_unavailable.
     */
    async read(accountId: string, candidateId: string): Promise<ReadPack> {
      const [record, { name }, { values }] = await Promise.all([
        store.reader.get(accountId, candidateId),
        accounts.get(accountId),
        assistant.get(accountId),
      ]);
      const language = printedIn(values.language ?? ASSISTANT_DEFAULTS.language);
      const account = { id: accountId, name };
      const pack = renderPack(record, { account, language, generated_at: timestamp(clock.now()) });
      return { pack, documents: record.documents };
    },

    /** A ZIP of the PDF, the documents and a manifest, generated while it is read. Destroying it frees everything. */
    zip({ pack, documents }: ReadPack, pdf: Uint8Array): Readable {
      return zipped((closed) => bundle({ pack, files: nameFiles(documents), pdf, contents }, closed));
    },
  };
}
