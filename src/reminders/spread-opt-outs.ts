import { optedOut } from "../candidates/outreach.ts";
import { service } from "../candidates/record.ts";
import type { Edit } from "../candidates/store.ts";
import { grouped } from "../infra/grouped.ts";
import { optedIn } from "./edits.ts";
import type { WritingParts } from "./stores.ts";
import { unlessErased } from "../candidates/erasure.ts";

/** Maximum number of opt-outs, and ends of opt-outs, that one pass notes. */
const BATCH = 1_000;

type Parts = Pick<WritingParts, "candidates" | "stores">;

/**
 * Notes opt-outs, and their ends, on all candidates of an account with the address, in one pass. Until then the sender still
 * looks at the opt-outs themselves before each message. Returns the number of candidates that have changed.
 * @throws problem store_unavailable
 */
export async function spreadOptOuts(parts: Parts, signal: AbortSignal): Promise<number> {
  const { optOuts } = parts.stores;
  let count = 0;
  for (const [accountId, changes] of grouped(await optOuts.spreading(BATCH), ({ account }) => account)) {
    const lifted = new Map(changes.map(({ address, lifted_at }) => [address, lifted_at !== null]));
    for await (const { id, emails } of parts.stores.plans.recipients(accountId)) {
      if (signal.aborted) return count;
      if (await note(accountId, id, emails, lifted, parts)) count++;
    }
    for (const change of changes) {
      const { candidate: id } = change;
      // Somebody may stop the messages just after the erasure has looked for opt-outs.
      if (id !== null && !(await parts.stores.plans.kept([id])).has(id)) await optOuts.forget({ accountId, id });
      await optOuts.spread(change);
    }
  }
  return count;
}

/** @param lifted by the address's hash: false for an opt-out, true for its end. */
async function note(
  accountId: string,
  id: string,
  emails: readonly string[],
  lifted: ReadonlyMap<string, boolean>,
  { candidates, stores }: Parts,
): Promise<boolean> {
  const those = (isLifted: boolean) => emails.filter((email) => lifted.get(stores.addresses.of(email)) === isLifted);
  const [out, back] = [those(false), those(true)];
  if (out.length + back.length === 0) return false;
  let isChanged = false;
  const edit: Edit = (before) => {
    const after = optedOut(optedIn(before, back), out);
    isChanged = after !== before;
    return after;
  };
  await unlessErased(candidates.change(service(accountId, "opt_outs"), id, edit));
  return isChanged;
}
