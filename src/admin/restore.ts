import { type Command, Option } from "@commander-js/extra-typings";
import { timestamp } from "../infra/clock.ts";
import { newTypeId } from "../infra/ids.ts";
import { type Overdue, Restore, tellMark } from "../infra/restore.ts";
import { ReminderAccountStore } from "../reminders/account-store.ts";
import { spreadAgain } from "../reminders/opt-out-store.ts";
import { PlanStore } from "../reminders/plan-store.ts";
import { nounOf, type Run } from "./command.ts";
import type { Operations } from "./operations.ts";

async function show(operations: Operations) {
  const mongo = await operations.mongo();
  const { since, ended_at, overdue } = await new Restore(mongo, newTypeId).open();
  const decided = since === null && ended_at !== null ? overdue : null;
  const waiting = await new PlanStore(mongo).waiting();
  return { object: "restore", restoring: since !== null, since, ended_at, overdue: decided, waiting };
}

/** Changes the state, and tells Redis if it can be reached. After `end`, every account's reminders are planned anew. */
async function change(operations: Operations, command: "begin" | "end", overdue?: Overdue) {
  const mongo = await operations.mongo();
  const store = new Restore(mongo, newTypeId);
  const state = await store.open();
  const now = timestamp(Date.now());
  const ended = { installation: newTypeId("inst"), since: null, ended_at: now, overdue: overdue ?? "hold" };
  const decided = state.since === null ? { overdue: overdue ?? state.overdue } : ended;
  const set = command === "begin" ? { since: state.since ?? now } : decided;
  const next = { ...state, ...set, mark: state.mark + 1 };
  const details = command === "begin" ? { since: next.since } : { overdue: next.overdue };
  const audited = { action: `restore ${command}`, accountId: "all", subject: state.installation, details };
  const audit = await operations.audit();
  await audit.around(audited, async () => {
    const told = async () => tellMark(await operations.redis(), next);
    if (await store.change(state.installation, set)) await told().catch(() => undefined);
    if (command === "begin") return;
    await spreadAgain(mongo);
    const accounts = new ReminderAccountStore(mongo);
    for await (const { _id, status } of (await operations.accountStore()).list())
      if (status !== "erased") await accounts.noteChange(_id, now);
  });
  return show(operations);
}

export function addRestoreCommands(admin: Command, run: Run): void {
  const restore = nounOf(admin, "restore", "A restore of MongoDB from a backup");
  restore("show", "Shows whether the service is closed, and what waits.").action(() => run(show));
  restore("begin", "Closes the service: it serves nobody and sends nothing.").action(() =>
    run((operations) => change(operations, "begin")),
  );
  const what = "hold, send or skip what was due by its end; hold at first";
  restore("end", "Opens the service, and decides about overdue reminders.")
    .addOption(new Option("--overdue <WHAT>", what).choices(["hold", "send", "skip"]))
    .action(({ overdue }) => run((operations) => change(operations, "end", overdue)));
}
