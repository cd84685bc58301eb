import type { Readable } from "node:stream";
import type { AccountStore } from "../accounts/store.ts";
import type { DocumentRecord } from "../candidates/record.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { SettingsService } from "../settings/service.ts";
import { bundle } from "./bundle.ts";
import { nameFiles } from "./file-names.ts";
import { renderPack } from "./render.ts";
import type { Pack } from "./schema.ts";
import { zipped } from "./zip.ts";

export type PackService = ReturnType<typeof packService>;

/** @param accounts for the name of the account. @param settings for the language. */
export function packService(
  store: CandidateStore,
  contents: ContentStore,
  accounts: Pick<AccountStore, "get">,
  settings: Pick<SettingsService, "readAssistant">,
  clock: Clock,
) {
  return {
    /** Three round trips, in parallel; one more for old history. @throws problems not_found, store_unavailable */
    async read(accountId: string, candidateId: string) {
      const [record, { name, keys }, { message_language: language }] = await Promise.all([
        store.reader.get(accountId, candidateId),
        accounts.get(accountId),
        settings.readAssistant(accountId),
      ]);
      const latest = await store.history.latest(record);
      const deciders = new Set(Object.values(record.decisions).map(({ by }) => by.id));
      const named = keys.filter(({ id }) => deciders.has(id)).map(({ id, name }) => ({ id, name }));
      const account = { id: accountId, name, keys: named };
      const made = { generated_at: timestamp(clock.now()), language, account, ...latest };
      return { pack: renderPack(record, made), documents: record.documents };
    },

    /** A ZIP of the PDF, the documents and a manifest, generated while it is read. Destroying it frees everything. */
    zip({ pack, documents }: { pack: Pack; documents: readonly DocumentRecord[] }, pdf: Uint8Array): Readable {
      return zipped((closed) => bundle({ pack, files: nameFiles(documents), pdf, contents }, closed));
    },
  };
}
