import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { type Static, Type } from "typebox";
import { parseEntry } from "../api/entries.ts";
import { checker } from "../api/input.ts";
import { refusable } from "../candidates/bulk.ts";
import { newTypeId } from "../infra/ids.ts";
import { Restore } from "../infra/restore.ts";
import type { System } from "../compose.ts";
import { invalid, isGone, Problem } from "../problems.ts";
import { type CommandContext, type EraseOptions, printed, severally } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { eraseAccount } from "./erase-account.ts";
import { Timestamp } from "../schema/values.ts";
import type { Operations } from "./operations.ts";

const idOf = (prefix: string) =>
  Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, "x-must-be": `an id that begins with ${prefix}_` });

/** A file with more lines than this that are no lines of an export is another file. */
const MAX_BAD_LINES = 100;

/** What was erased: an account, a candidate, or a part of one. `candidate` is null if the audit does not say whose part it was. */
const Line = Type.Object(
  {
    account: idOf("acct"),
    candidate: Type.Optional(Type.Union([idOf("cand"), Type.Null()])),
    document: Type.Optional(idOf("doc")),
    reference: Type.Optional(idOf("ref")),
    at: Timestamp,
  },
  { additionalProperties: false },
);

type ErasureLine = Static<typeof Line>;
const checkLine = checker(Line, "line");

/** Erases again what a file lists. @throws {Error} in the end, after the report, if some lines failed. */
export async function replayErasures(
  operations: Operations,
  context: CommandContext,
  file: string,
  { yes, ...options }: EraseOptions,
): Promise<object> {
  const lines = await linesIn(file);
  const good = lines.flatMap(({ line }) => (line instanceof Problem ? [] : line));
  const [first] = lines;
  if (first?.line instanceof Problem && good.length === 0)
    throw wrongFile(`${file} is not what \`erasures export\` prints: line ${first.number}: ${first.line.message}`);
  if (first === undefined)
    context.stderr.write(`${file} has no lines: nobody was erased since the backup, or the export failed.\n`);
  const accounts = good.filter(isAccount).map(({ account }) => account);
  const whole = accounts.length === 0 ? "" : `, and the whole accounts ${accounts.join(", ")}`;
  const question = `Erase again ${good.length - accounts.length} candidates and parts of candidates${whole}?`;
  const open = "The service is open: whoever was taken up again since is erased too.";
  const { since } = await new Restore(await operations.mongo(), newTypeId).open();
  await confirm(operations, context, since === null ? `${open} ${question}` : question, { yes, needsYes: true });
  const counts = { lines: lines.length, erased: 0, already_erased: 0, not_there: 0 };
  const onHold: string[] = [];
  const failed: { line: number; reason: string }[] = [];
  const [audit, details] = [await operations.audit(), { lines: lines.length }];
  const audited = { action: "erasures replay", accountId: "all", subject: basename(file), details };
  const work = (system: System) =>
    severally(lines, context, lines.length, async ({ number, line }) => {
      const again = () => (line instanceof Problem ? line : eraseAgain(system, line));
      const ending = await refusable<Ending | Problem>(again);
      if (!(ending instanceof Problem)) counts[ending]++;
      else if (ending.code === "on_hold" && !(line instanceof Problem)) onHold.push(line.candidate ?? line.account);
      else failed.push({ line: number, reason: ending.message });
    });
  await operations.withSystem((system) => audit.around(audited, () => work(system)));
  failed.sort((one, other) => one.line - other.line);
  const report = { object: "erasure_replay", ...counts, on_hold: onHold, failed };
  if (failed.length + onHold.length === 0) return report;
  await printed(report, context);
  const held = `${onHold.length} are under a hold and stay: see \`on_hold\`, or add --despite-holds.`;
  const others = `${failed.length} of ${lines.length} lines failed: see \`failed\`.`;
  throw new Error(
    [failed.length > 0 && others, onHold.length > 0 && held, "The others are replayed."].filter(Boolean).join(" "),
  );

  async function eraseAgain(system: System, line: ErasureLine): Promise<Ending> {
    const { account: accountId, candidate, document, reference } = line;
    const { eraser } = system;
    const actor = operations.actor();
    const caller = { accountId, keyId: actor, by: { type: "operator", id: actor } } as const;
    try {
      if (reference !== undefined) await eraser.removeReference(caller, reference, pass, options);
      else if (isAccount(line)) await eraseAccount(operations, context, system, accountId, options);
      else if (candidate == null) return "not_there";
      else if (document !== undefined)
        await eraser.removePart(caller, { candidate, kind: "documents", id: document }, pass, options);
      else if (!(await eraser.erase(caller, candidate, pass, options))) return "already_erased";
      return "erased";
    } catch (error) {
      if (!(error instanceof Problem && isGone(error))) throw error;
      if (error.code === "candidate_deleted") return "already_erased";
      if (candidate == null || !(await (await operations.accountStore()).has(accountId))) return "not_there";
      if ((document ?? reference) === undefined) await eraser.bury(caller, candidate);
      // An attempt that was interrupted may have removed the part from the record, and not yet its bytes.
      else if (await eraser.finish(accountId, candidate, new AbortController().signal)) return "erased";
      return "not_there";
    }
  }
}

type Ending = "erased" | "already_erased" | "not_there";

/** Returns each line with its number, from 1. It is a problem if it is no line of an export. */
async function linesIn(file: string) {
  const lines: { number: number; line: ErasureLine | Problem }[] = [];
  const content = await readFile(file, "utf8").catch((cause: unknown) => {
    throw wrongFile(`${file} cannot be read: ${String(Object(cause).code)}.`);
  });
  let bad = 0;
  for (const [n, text] of content.split("\n").entries()) {
    const read = () => checkLine(parseEntry(Buffer.from(text))).value;
    const line = text.trim() === "" ? undefined : await refusable(read);
    if (line !== undefined) lines.push({ number: n + 1, line });
    if (line instanceof Problem && ++bad > MAX_BAD_LINES)
      throw wrongFile(`${file} has more than ${MAX_BAD_LINES} lines that \`erasures export\` does not print.`);
  }
  return lines;
}

function wrongFile(detail: string): Problem {
  return invalid("/FILE", "must be what `erasures export` has printed", detail);
}

function isAccount({ candidate, document, reference }: ErasureLine): boolean {
  return candidate === undefined && document === undefined && reference === undefined;
}

function pass(): void {}
