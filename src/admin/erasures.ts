import type { Command } from "@commander-js/extra-typings";
import { pipeline } from "node:stream/promises";
import { DESPITE_HOLDS, nounOf, type Run, timeOf, YES } from "./command.ts";
import { timestamp } from "../infra/clock.ts";
import { invalid } from "../problems.ts";
import { type DeletionEntry, pendingDeletions } from "./erasure-store.ts";
import type { Operations } from "./operations.ts";
import { replayErasures } from "./replay.ts";

export function addErasureCommands(admin: Command, run: Run): void {
  const erasures = nounOf(admin, "erasures", "What was erased, and its replay after a restore");
  erasures("export", "Lists what was erased since a time, for replay.")
    .description(
      "Prints a JSON line for each person, document, reference and account erased since a time, oldest first.",
    )
    .requiredOption("--since <TIME>", "time of the backup, for example 2026-11-28T03:00:00Z", timeOf("/since"))
    .action(({ since }) =>
      run(async (operations, { stdout }) => {
        if (since > timestamp(operations.clock.now())) throw invalid("/since", "must not be in the future");
        await pipeline(linesSince(operations, since), stdout, { end: false });
        return undefined;
      }),
    );
  erasures("replay", "Erases again what a restore brought back.")
    .description("Erases again what a restore brought back. After an interruption, run the same command again.")
    .argument("<FILE>", "what `erasures export` has printed")
    .option(...YES)
    .option(...DESPITE_HOLDS)
    .action((file, options) => run((operations, context) => replayErasures(operations, context, file, options)));
}

/** Yields a line for each erasure since then, oldest first. */
async function* linesSince(operations: Operations, since: string): AsyncGenerator<string> {
  const pending = await pendingDeletions(await operations.mongo()); // first: what ends meanwhile is in the audit then
  const ids = new Set(pending.map(({ subject }) => subject));
  for await (const entry of (await operations.auditFollowing()).store.entries({ since })) {
    if (ids.has(entry.subject)) continue;
    while (pending[0] !== undefined && pending[0].at <= entry.at) yield* lineOf(pending.shift()!);
    yield* lineOf(entry);
  }
  for (const entry of pending) yield* lineOf(entry);
}

function lineOf({ action, account, subject, at, details }: DeletionEntry): [string] | [] {
  const { candidate = null } = details; // earlier releases did not note it
  const line = {
    "candidates delete": { account, candidate: subject, at },
    "documents delete": { account, candidate, document: subject, at },
    "references delete": { account, candidate, reference: subject, at },
    "accounts erased": { account, at },
  }[action];
  return line === undefined ? [] : [`${JSON.stringify(line)}\n`];
}
