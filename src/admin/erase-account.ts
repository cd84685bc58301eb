import { setTimeout } from "node:timers/promises";
import { DONE } from "../audit/entry.ts";
import type { System } from "../compose.ts";
import type { ErasureOptions } from "../candidates/eraser.ts";
import { Problem, problem } from "../problems.ts";
import { type CommandContext, type EraseOptions, patiently, severally } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { candidatesOf, countCandidates, removeBelongings } from "./erasure-store.ts";
import type { Operations } from "./operations.ts";

/** Asks, then erases an account. */
export async function endAccount(
  operations: Operations,
  context: CommandContext,
  id: string,
  { yes, ...options }: EraseOptions,
) {
  const { name } = await (await operations.accountStore()).get(id, { evenErased: true });
  const count = await countCandidates(await operations.mongo(), id);
  const question = `Erase ${id} (${name}) with ${count} candidates for good?`;
  await confirm(operations, context, question, { yes, needsYes: true, word: id });
  return operations.withSystem((system) => eraseAccount(operations, context, system, id, options));
}

/**
 * Suspends an account, erases its people, then what else it has. Its audit and a tombstone stay. Can be repeated, and goes on
 * where it was interrupted.
 * @throws problem on_hold if people are under a hold: the others are erased then, and the account stays suspended.
 */
export async function eraseAccount(
  operations: Operations,
  context: CommandContext,
  { eraser, isRestoring }: System,
  id: string,
  options: ErasureOptions,
): Promise<object> {
  const { BODY_TIMEOUT_MS, STORE_TIMEOUT_MS } = operations.config;
  const caller = { accountId: id, keyId: operations.actor() };
  const [mongo, audit, accounts] = await Promise.all([operations.mongo(), operations.audit(), operations.accounts()]);
  /** Remembers the ids: about 100 bytes for each. One whose erasure is under way is found again. */
  const [erased, onHold] = [new Set<string>(), new Set<string>()];

  async function erase(candidate: string): Promise<void> {
    onHold.delete(candidate); // the hold may have been lifted since
    try {
      if (await eraser.erase(caller, candidate, () => undefined, options)) erased.add(candidate);
    } catch (error) {
      if (!(error instanceof Problem && error.code === "on_hold")) throw error;
      onHold.add(candidate);
    }
  }

  /** Goes through the account until there is nobody to erase any more. */
  async function erasePeople(): Promise<void> {
    for (let before = -1; before !== erased.size;) {
      before = erased.size;
      await severally(candidatesOf(mongo, id), context, await patiently(() => countCandidates(mongo, id)), erase);
    }
  }

  async function work(): Promise<void> {
    const { status } = await accounts.showAccount(id);
    if (status !== "erased") await operations.setStatus(id, "suspended");
    // A request that was admitted before may still create a candidate: once its body is here, in a few round trips.
    const lateMs = isRestoring() || status === "erased" ? 0 : BODY_TIMEOUT_MS + 3 * STORE_TIMEOUT_MS;
    const late = setTimeout(lateMs, undefined, { ref: false }); // who ends the command does not wait for it
    await erasePeople();
    if (context.stderr.isTTY) context.stderr.write("Waiting for the end of requests that had begun…\n");
    await late;
    await erasePeople();
    const held = `Under a hold: ${onHold.size} (${[...onHold].slice(0, 20).join(", ")}).`;
    const lift = "have the client lift the holds after `accounts resume`, or add --despite-holds";
    const advice = `Either ${lift}. Then run the same command again.`;
    if (onHold.size > 0) throw problem("on_hold", `${id} stays suspended. ${held} ${advice}`);
    await patiently(() => accounts.leaveTombstone(id));
    await erasePeople(); // an import may have gone on until now
    await patiently(() => removeBelongings(mongo, id));
    const { store } = await operations.auditFollowing();
    const of = { account: id, action: "accounts erased", subject: id, details: {} };
    await patiently(() => store.append([{ _id: `audit_${id}`, actor: caller.keyId, ...of, ...DONE }]));
  }

  await audit.around({ action: "accounts erase", accountId: id, subject: id }, work);
  return { object: "account_erasure", id, erased: erased.size };
}
