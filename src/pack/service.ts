import type { Caller } from "../accounts/caller.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { AuditedReads } from "../audit/reads.ts";
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

interface Dependencies {
  readonly store: CandidateStore;
  readonly contents: ContentStore;
  /** For the name of the account, and of its keys. */
  readonly accounts: Pick<AccountStore, "get">;
  /** For the language. */
  readonly settings: Pick<SettingsService, "readAssistant">;
  readonly reads: Pick<AuditedReads, "note">;
  readonly clock: Clock;
}

export function packService({ store, contents, accounts, settings, reads, clock }: Dependencies) {
  return {
    /**
     * Three round trips, in parallel; one more if a part of the history has left the record.
     * @throws problems not_found (also for another account's candidate), store_unavailable.
     */
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

    /** A ZIP of the PDF, the documents and a manifest, generated while it is read: it counts as a read of each file. Destroying it frees everything. */
    zip(caller: Caller, { pack, documents }: { pack: Pack; documents: readonly DocumentRecord[] }, pdf: Uint8Array) {
      const candidate = pack.candidate_id;
      for (const { id: subject, content } of documents)
        if (content !== null) reads.note(caller, { action: "document.read", candidate, subject });
      return zipped((closed) => bundle({ pack, files: nameFiles(documents), pdf, contents }, closed));
    },
  };
}
