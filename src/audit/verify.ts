import { type AuditRecord, hashOf } from "./entry.ts";

/**
 * Checks the chains of all entries, which come in their order from the first one, up to the first entry that does not fit. Entries of
 * 0.1.0 have no chain, and are counted. Remembers a hash for each account.
 */
export async function verified(entries: AsyncIterable<AuditRecord>) {
  const heads = new Map<string, Pick<AuditRecord, "seq" | "hash">>();
  const object = "audit_verification" as const;
  let [count, not_chained] = [0, 0];
  let last_not_chained_at: string | null = null;
  for await (const record of entries) {
    count++;
    const { _id: id, account: account_id, at, seq, previous, hash } = record;
    if (seq === null && previous === null && hash === null) {
      not_chained++;
      last_not_chained_at = at;
      continue;
    }
    const why = faultOf(record, heads.get(account_id) ?? { seq: 0, hash: null });
    const misfit = { id, account_id, at, why };
    if (why !== undefined) return { object, entries: count, not_chained, last_not_chained_at, misfit };
    heads.set(account_id, { seq, hash });
  }
  return { object, entries: count, not_chained, last_not_chained_at, misfit: null };
}

function faultOf(record: AuditRecord, head: Pick<AuditRecord, "seq" | "hash">): string | undefined {
  const { seq, previous, hash } = record;
  if (hashOf(record) !== hash) return "it was changed: its hash is another";
  if (seq !== (head.seq ?? 0) + 1) return `its seq is ${seq}, and that of the entry before it is ${head.seq}`;
  return previous === head.hash ? undefined : "its previous is not the hash of the entry before it";
}
