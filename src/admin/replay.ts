import { basename } from "node:path";
import type { Caller } from "../accounts/caller.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { Eraser } from "../candidates/eraser.ts";
import { Problem } from "../problems.ts";
import { type CommandContext, type ErasureOptions, printed, severally } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { eraseAccount } from "./erase-account.ts";
import { type ErasureLine, linesOf, type NumberedLine } from "./erasure-lines.ts";
import type { Operations } from "./operations.ts";

const isAccount = ({ candidate, document, reference }: ErasureLine) =>
  candidate === undefined && document === undefined && reference === undefined;

/** Erases again what a file lists, accounts last. @throws {Error} in the end, after the report, if some lines failed. */
export async function replayErasures(
  operations: Operations,
  context: CommandContext,
  file: string,
  { yes }: ErasureOptions,
): Promise<object> {
  const { lines, candidates, accounts, fault } = await summaryOf(file);
  if (fault !== undefined && candidates + accounts.size === 0) throw fault;
  const whole = accounts.size === 0 ? "" : `, and the whole accounts ${[...accounts.keys()].join(", ")}`;
  const question = `Erase again ${candidates} candidates and parts of candidates${whole}?`;
  await confirm(operations, context, question, { yes, needsYes: true });
  const report = { object: "erasure_replay", lines, erased: 0, already_erased: 0, not_there: 0 };
  const onHold: string[] = [];
  const failed: { line: number; reason: string }[] = [];
  const isKnown = knownIn(await operations.accountStore());

  async function replay({ number, line }: NumberedLine, eraser: Eraser): Promise<void> {
    if (line instanceof Problem) return void failed.push({ line: number, reason: line.message });
    if (isAccount(line)) return;
    try {
      const caller = { accountId: line.account, keyId: operations.actor() };
      report[(await isKnown(line.account)) ? await eraseAgain(eraser, caller, line) : "not_there"]++;
    } catch (error) {
      if (!(error instanceof Problem) || error.code === "store_unavailable") throw error;
      if (error.code === "on_hold") onHold.push(line.candidate ?? line.reference ?? "");
      else failed.push({ line: number, reason: error.message });
    }
  }

  const system = await operations.system();
  async function work(): Promise<void> {
    await severally(linesOf(file), context, lines, (line) => replay(line, system.eraser));
    for (const [id, line] of accounts) {
      const ended = (await isKnown(id)) ? await eraseAccount(operations, context, system, id) : undefined;
      report[ended === undefined ? "not_there" : "erased"]++;
      onHold.push(...(ended?.on_hold ?? []));
      if (ended?.status === "suspended") failed.push({ line, reason: `${id} has people under a hold.` });
    }
  }

  try {
    const audited = { action: "erasures replay", accountId: "all", subject: basename(file), details: { lines } };
    await (await operations.audit()).around(audited, work);
  } finally {
    await system.close();
  }
  const result = { ...report, on_hold: onHold, failed };
  if (failed.length === 0) return result;
  await printed(result, context);
  throw new Error(`${failed.length} of ${lines} lines failed: see \`failed\`. The others are replayed.`);
}

/** Reads the file before anything is erased. `accounts`: by id, the line. `fault`: what is wrong with the first bad line. */
async function summaryOf(file: string) {
  const accounts = new Map<string, number>();
  let [lines, candidates] = [0, 0];
  let fault: Problem | undefined;
  for await (const page of linesOf(file))
    for (const { number, line } of page) {
      lines++;
      if (line instanceof Problem) fault ??= line;
      else if (isAccount(line)) accounts.set(line.account, number);
      else candidates++;
    }
  return { lines, candidates, accounts, fault };
}

/** Returns whether an account is in the database. One that was created after the backup is not. */
function knownIn(accounts: AccountStore): (id: string) => Promise<boolean> {
  const known = new Map<string, boolean>();
  return async (id) => {
    const isKnown = known.get(id) ?? (await accounts.get(id, { evenErased: true }).then(() => true, unlessNotFound));
    known.set(id, isKnown);
    return isKnown;
  };
}

/** Returns false for problem not_found. @throws any other error */
function unlessNotFound(error: unknown): false {
  if (error instanceof Problem && error.code === "not_found") return false;
  throw error;
}

async function eraseAgain(eraser: Eraser, caller: Caller, { candidate, document, reference }: ErasureLine) {
  const pass = () => undefined;
  try {
    if (reference !== undefined) await eraser.removeReference(caller, reference, pass);
    else if (candidate == null)
      return "not_there"; // nobody knows whose document it was
    else if (document !== undefined) await eraser.removeDocument(caller, candidate, document, pass);
    else if (!(await eraser.erase(caller, candidate, pass))) return "already_erased";
    return "erased";
  } catch (error) {
    if (error instanceof Problem && error.code === "candidate_deleted") return "already_erased";
    unlessNotFound(error);
    if (candidate == null) return "not_there";
    if ((document ?? reference) === undefined) await eraser.bury(caller, candidate);
    // An attempt that was interrupted may have removed the part from the record, and not yet its bytes.
    else if (await eraser.finish(caller.accountId, candidate, new AbortController().signal)) return "erased";
    return "not_there";
  }
}
