import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Command } from "@commander-js/extra-typings";
import { type AuditRecord, lineOf } from "../audit/entry.ts";
import { settledEntries } from "../audit/follow.ts";
import { MAX_LISTED } from "../audit/trail.ts";
import { verified } from "../audit/verify.ts";
import { timestamp } from "../infra/clock.ts";
import { type CommandContext, nounOf, numberIn, type Run, timeOf } from "./command.ts";
import { invalid } from "../problems.ts";
import type { Operations } from "./operations.ts";

const OF_ACCOUNT = ["--account <ACCOUNT_ID>", "only entries of this account"] as const;

export function addAuditCommands(admin: Command, run: Run): void {
  const audit = nounOf(admin, "audit", "Audit: who changed or read what, and when");
  audit("list", "Lists who changed or read what and when, newest first.")
    .option(...OF_ACCOUNT)
    .option("--limit <NUMBER>", `maximum number of entries: 1 to ${MAX_LISTED}`, numberIn, 50)
    .action(({ account, limit }) => run(async (operations) => (await operations.audit()).list(limit, account)));
  audit("export", "Prints all entries, oldest first, as NDJSON.")
    .description("Prints all entries up to now, oldest first, as NDJSON. Waits a few seconds for those being written.")
    .option(...OF_ACCOUNT)
    .option("--since <TIME>", "from this time, for example 2026-11-28T03:00:00Z", timeOf("/since"))
    .option("--until <TIME>", "to before this time", timeOf("/until"))
    .option("--cursor, --after <ENTRY_ID>", "what follows the last line of an earlier export")
    .action(({ after: id, ...query }) =>
      run(async (operations, context) => {
        const following = await followingOf(operations, query.account);
        const after = id === undefined ? undefined : await following.store.find(id);
        if (id !== undefined && after === undefined) throw invalid("/after", "must be the id of an entry of the audit");
        return print(settledEntries(following, { ...query, after }), context);
      }),
    );
  audit("tail", "Prints new entries as they appear, until Ctrl-C.")
    .description("Prints new entries until Ctrl-C, in their order: a few seconds after they are written.")
    .option(...OF_ACCOUNT)
    .action(({ account }) =>
      run(async (operations, context) => {
        const [following, stopping] = [await followingOf(operations, account), new AbortController()];
        for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
        const since = timestamp(operations.clock.now());
        return print(settledEntries(following, { account, since }, stopping.signal), context);
      }),
    );
  audit("verify", "Checks that no entry was changed or removed.")
    .description("Checks the chain of each account: that no entry was changed, removed, inserted or moved.")
    .option(...OF_ACCOUNT)
    .action(({ account }) =>
      run(async (operations, context) => {
        const found = await verified(settledEntries(await followingOf(operations, account), { account }));
        if (found.misfit === null) return found;
        context.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
        const { id, account_id, why } = found.misfit;
        throw new Error(`The entry ${id} of ${account_id} does not fit: ${why}.`);
      }),
    );
}

/** @throws problem not_found if there is no such account, and no entry of it either: that of an erased account is kept. */
async function followingOf(operations: Operations, account: string | undefined) {
  const following = await operations.auditFollowing();
  const { done: isUnknown } = await following.store.entries({ account }).next();
  if (account !== undefined && isUnknown) await (await operations.accountStore()).get(account);
  return following;
}

async function print(entries: AsyncIterable<AuditRecord>, { stdout }: CommandContext): Promise<undefined> {
  const lines = Readable.from(entries).map((entry: AuditRecord) => `${lineOf(entry)}\n`);
  await pipeline(lines, stdout, { end: false });
}
