import { type AuditRecord, hashOf } from "./entry.ts";

/** What a verification found. It ends at the first entry that does not fit into the chain of its account. */
export interface AuditVerification {
  readonly object: "audit_verification";
  readonly entries: number;
  /** Entries of 0.1.0, which had no chain, and the time of the last one. */
  readonly not_chained: number;
  readonly last_not_chained_at: string | null;
  /** Accounts with a chain. */
  readonly accounts: number;
  readonly misfit: {
    readonly id: string;
    readonly account_id: string;
    readonly at: string;
    readonly why: string;
  } | null;
}

/** Checks the chains of all entries, which come in their order from the first one. Remembers a hash for each account. */
export async function verified(entries: AsyncIterable<AuditRecord>): Promise<AuditVerification> {
  const heads = new Map<string, Pick<AuditRecord, "seq" | "hash">>();
  let [count, notChained] = [0, 0];
  let lastNotChained: string | null = null;
  let misfit: AuditVerification["misfit"] = null;
  for await (const record of entries) {
    count++;
    const { _id: id, account, seq, previous, hash, at } = record;
    if (seq === null && previous === null && hash === null) {
      notChained++;
      lastNotChained = at;
      continue;
    }
    const why = faultOf(record, heads.get(account) ?? { seq: 0, hash: null });
    heads.set(account, { seq, hash });
    if (why === undefined) continue;
    misfit = { id, account_id: account, at, why };
    break;
  }
  const counts = { entries: count, not_chained: notChained, last_not_chained_at: lastNotChained, accounts: heads.size };
  return { object: "audit_verification", ...counts, misfit };
}

function faultOf(record: AuditRecord, head: Pick<AuditRecord, "seq" | "hash">): string | undefined {
  if (hashOf(record) !== record.hash) return "it was changed: its hash is another";
  if (record.seq !== (head.seq ?? 0) + 1)
    return `its seq is ${record.seq}, and that of the entry before it is ${head.seq}`;
  return record.previous === head.hash ? undefined : "its previous is not the hash of the entry before it";
}
