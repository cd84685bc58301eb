import { type Command, Option } from "@commander-js/extra-typings";
import { timestamp } from "../infra/clock.ts";
import { newTypeId } from "../infra/ids.ts";
import { type RestoreState, tellMark } from "../infra/restore.ts";
import { type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";
import type { Operations } from "./operations.ts";

type Parts = Awaited<ReturnType<Operations["restore"]>>;

async function show({ store, plans }: Parts) {
  const { since, ended_at, overdue } = await store.open();
  const decided = since === null && ended_at !== null ? overdue : null;
  const waiting = await plans.waiting();
  return { object: "restore", restoring: since !== null, since, ended_at, overdue: decided, waiting };
}

/** Changes the state, and tells Redis if it can be reached. After `end`, every account's reminders are planned anew. */
async function change(
  parts: Parts,
  command: "begin" | "end",
  changed: (state: RestoreState, now: string) => Partial<RestoreState>,
) {
  const { store, audit, accounts, reminderAccounts } = parts;
  const state = await store.open();
  const now = timestamp(Date.now());
  const set = changed(state, now);
  const next = { ...state, ...set, mark: state.mark + 1 };
  const { since, overdue } = next;
  const audited = { action: `restore ${command}`, accountId: "all", subject: state.installation };
  await audit.around({ ...audited, details: { since, overdue } }, async () => {
    const told = async () => tellMark(await parts.redis(), next);
    if (await store.change(state, set)) await told().catch(() => undefined);
    if (command === "begin") return;
    await parts.spreadAgain();
    for await (const { _id } of accounts.list()) await reminderAccounts.noteChange(_id, now);
  });
  return show(parts);
}

export function addRestoreCommands(admin: Command, run: Run): void {
  const restore = admin.command("restore").description("A restore of MongoDB from a backup");
  restore
    .command("show")
    .description("Shows whether the service is closed, and what waits.")
    .action(() => run(async (operations) => show(await operations.restore())));
  restore
    .command("begin")
    .description("Closes the service: it serves nobody and sends nothing.")
    .action(() =>
      run(async (operations) =>
        change(await operations.restore(), "begin", ({ since }, now) => ({ since: since ?? now })),
      ),
    );
  const what = "hold, send or skip what was due by its end; hold at first";
  restore
    .command("end")
    .description("Opens the service, and decides about overdue reminders.")
    .addOption(new Option("--overdue <WHAT>", what).choices(["hold", "send", "skip"]))
    .action(({ overdue }) =>
      run(async (operations) =>
        change(await operations.restore(), "end", (state, ended_at) =>
          state.since === null
            ? { overdue: overdue ?? state.overdue }
            : { installation: newTypeId("inst"), since: null, ended_at, overdue: overdue ?? "hold" },
        ),
      ),
    );
  admin
    .command("candidates")
    .description("Candidates")
    .command("erase")
    .description("Erases people for good, also in a restore.")
    .argument("<CANDIDATE_ID...>", "candidates to erase")
    .option(...YES)
    .action((ids, { yes }) =>
      run(async (operations, context) => {
        await confirm(operations, context, `Erase ${ids.join(", ")} for good?`, { yes, needsYes: true });
        return operations.erase(ids);
      }),
    );
}
