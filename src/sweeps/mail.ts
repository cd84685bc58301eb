import { type Clock, DAY_MS, HOUR_MS, timestamp } from "../infra/clock.ts";
import type { ReminderStores } from "../reminders/stores.ts";
import type { Sweep } from "./sweep.ts";

/** Time after which no message is being sent any more, in milliseconds. */
const UNDER_WAY_MS = HOUR_MS;
/** Time for which the counts of a day are kept, in milliseconds. `admin outreach top` shows them. */
const KEPT_MS = 35 * DAY_MS;
const BATCH = 1_000;

/**
 * Removes what is left over of messages: the links and history of people who were erased while a message to them was under
 * way and its replica died, and the counts of days long past.
 */
export function leftOverMail(stores: ReminderStores, clock: Clock): Sweep {
  return {
    name: "left_over_mail",
    async run(signal) {
      const now = clock.now();
      const { budget } = stores;
      let count = await budget.removeBefore(now - KEPT_MS);
      const before = timestamp(now - UNDER_WAY_MS);
      for (const { account, day, pending } of await budget.pendingSince(before, BATCH))
        for (const { key, candidate, address } of pending.filter(({ at }) => at < before)) {
          if (signal.aborted) return count;
          await stores.removeErased([{ accountId: account, id: candidate, address }]);
          await budget.settle([{ accountId: account, day, hour: 0, key, isBounced: false }]);
          count++;
        }
      return count;
    },
  };
}
