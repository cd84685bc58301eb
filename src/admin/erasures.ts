import type { Command } from "@commander-js/extra-typings";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Type } from "typebox";
import { checker } from "../api/input.ts";
import type { AuditRecord, AuditStore } from "../audit/store.ts";
import { epochOf, timestamp } from "../infra/clock.ts";
import type { Mongo } from "../infra/mongo.ts";
import { Timestamp } from "../schema/fields.ts";
import { DESPITE_HOLDS, type Run, YES } from "./command.ts";
import { pendingDeletions } from "./erasure-store.ts";
import type { ErasureLine } from "./erasure-lines.ts";
import { replayErasures } from "./replay.ts";

const checkOptions = checker(Type.Object({ since: Timestamp }), "option");

export function addErasureCommands(admin: Command, run: Run): void {
  const erasures = admin.command("erasures").description("What was erased, and its replay after a restore");
  erasures
    .command("export")
    .summary("Lists what was erased since a time, for replay.")
    .description(
      "Prints a JSON line for each person, document, reference and account that was erased since a time, oldest first, also those whose erasure is not finished yet. `erasures replay` reads it.",
    )
    .requiredOption("--since <TIME>", "time of the backup, RFC 3339: 2026-11-28T03:00:00Z")
    .action(({ since }) =>
      run(async (operations, { stdout }) => {
        const { value } = checkOptions({ since });
        const lines = erasuresSince(await operations.mongo(), await operations.auditStore(), value.since);
        await pipeline(Readable.from(lines), stdout, { end: false });
        return undefined;
      }),
    );
  erasures
    .command("replay")
    .summary("Erases again what a restore brought back.")
    .description(
      "Erases again what a restore brought back, also while the service is closed. What is erased already is passed by. After an interruption, run the same command again.",
    )
    .argument("<FILE>", "lines that `erasures export` has printed")
    .option(...YES)
    .option(...DESPITE_HOLDS)
    .action((file, options) => run((operations, context) => replayErasures(operations, context, file, options)));
}

/** Yields a line for each erasure since then, oldest first. Keeps only the unfinished ones in memory. */
async function* erasuresSince(mongo: Mongo, audit: AuditStore, text: string): AsyncGenerator<string> {
  const since = timestamp(epochOf(text));
  const pending = await pendingDeletions(mongo, since); // first: one that ends meanwhile is then in the audit
  const ids = new Set(pending.map(({ id }) => id));
  const lines = pending.map(({ kind, id: subject, account, candidate, at }) =>
    lineOf({ action: `${kind} delete`, account, subject, at, details: { candidate } }),
  );
  let next = 0;
  for await (const entry of audit.entries({ since })) {
    const line = lineOf(entry);
    if (line === undefined || ids.has(entry.subject)) continue;
    while (next < lines.length && pending[next]!.at <= entry.at) yield `${JSON.stringify(lines[next++])}\n`;
    yield `${JSON.stringify(line)}\n`;
  }
  for (const line of lines.slice(next)) yield `${JSON.stringify(line)}\n`;
}

type Entry = Pick<AuditRecord, "action" | "account" | "subject" | "at" | "details">;

/** Returns undefined for an entry of something else. Earlier releases did not note the candidate of a document or reference. */
function lineOf({ action, account, subject, at, details }: Entry): ErasureLine | undefined {
  const candidate = typeof details.candidate === "string" ? details.candidate : null;
  if (action === "candidates delete") return { account, candidate: subject, at };
  if (action === "documents delete") return { account, candidate, document: subject, at };
  if (action === "references delete") return { account, candidate, reference: subject, at };
  return action === "accounts erased" ? { account, at } : undefined;
}
