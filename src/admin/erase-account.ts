import { setTimeout } from "node:timers/promises";
import type { System } from "../compose.ts";
import { timestamp } from "../infra/clock.ts";
import { Problem, problem } from "../problems.ts";
import { type CommandContext, type ErasureOptions, patiently, printed, severally } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { candidatesOf, countCandidates, removeBelongings } from "./erasure-store.ts";
import type { Operations } from "./operations.ts";

/** Asks, then ends an account. @throws {Error} in the end, after the report, if people are under a hold. */
export async function endAccount(
  operations: Operations,
  context: CommandContext,
  id: string,
  { yes }: ErasureOptions,
): Promise<object> {
  const { name } = await (await operations.accountStore()).get(id, { evenErased: true });
  const count = await countCandidates(await operations.mongo(), id);
  const question = `Erase ${id} (${name}) with ${count} candidates for good?`;
  await confirm(operations, context, question, { yes, needsYes: true, word: id });
  const system = await operations.system();
  try {
    const report = await eraseAccount(operations, context, system, id);
    if (report.status === "erased") return report;
    await printed(report, context);
    const advice = "Lift the holds, or add --despite-holds, and run the same command again.";
    throw new Error(`${id} is suspended and not erased: ${report.on_hold.length} people are under a hold. ${advice}`);
  } finally {
    await system.close();
  }
}

/**
 * Ends an account: suspends it, erases its people, then what else it has. Its audit and a tombstone stay. Can be repeated, and
 * goes on where it was interrupted. People under a hold are left, and the account then stays suspended.
 */
export async function eraseAccount(
  operations: Operations,
  context: CommandContext,
  { eraser, isRestoring }: System,
  id: string,
) {
  const { BODY_TIMEOUT_MS, STORE_TIMEOUT_MS } = operations.config;
  const caller = { accountId: id, keyId: operations.actor() };
  const [mongo, audit, accounts] = await Promise.all([operations.mongo(), operations.audit(), operations.accounts()]);
  const onHold = new Set<string>();
  let erased = 0;

  async function erase(candidate: string): Promise<void> {
    if (onHold.has(candidate)) return;
    try {
      if (await eraser.erase(caller, candidate, () => undefined)) erased++;
    } catch (error) {
      if (!(error instanceof Problem && error.code === "on_hold")) throw error;
      onHold.add(candidate);
    }
  }

  /** Goes through the account until there is nobody to erase any more. */
  async function erasePeople(): Promise<void> {
    for (let before = -1; before !== erased;) {
      before = erased;
      await severally(candidatesOf(mongo, id), context, await countCandidates(mongo, id), erase);
    }
  }

  async function work(): Promise<void> {
    const { status } = await accounts.showAccount(id);
    if (status !== "erased") await operations.setStatus(id, "suspended");
    // A request that was admitted before may still create a candidate: once its body is here, in a few round trips.
    const late = isRestoring() ? undefined : setTimeout(BODY_TIMEOUT_MS + 3 * STORE_TIMEOUT_MS);
    await erasePeople();
    if (late !== undefined && context.stderr.isTTY) context.stderr.write("Waiting for requests that have begun…\n");
    await late;
    await erasePeople();
    if (onHold.size > 0)
      throw problem("on_hold", `${onHold.size} people are under a hold. The account stays suspended.`);
    await patiently(() => accounts.leaveTombstone(id));
    await erasePeople(); // an import has gone on until now
    await patiently(() => removeBelongings(mongo, id));
    const [at, store] = [timestamp(operations.clock.now()), await operations.auditStore()];
    const ended = { at, actor: caller.keyId, action: "accounts erased", account: id, subject: id, details: {} };
    await patiently(() => store.done({ _id: `audit_${id}`, ...ended }));
  }

  const audited = { action: "accounts erase", accountId: id, subject: id };
  await audit.around(audited, work).catch((error: unknown) => {
    if (onHold.size === 0) throw error;
  });
  const status = onHold.size === 0 ? "erased" : "suspended";
  return { object: "account_erasure", id, status, erased, on_hold: [...onHold] } as const;
}
