import { type Command, Option } from "@commander-js/extra-typings";
import type { Run } from "./command.ts";

export function addRestoreCommands(admin: Command, run: Run): void {
  const restore = admin.command("restore").description("Restores of MongoDB from a backup");
  restore
    .command("show")
    .description("Shows whether the service is closed, and what waits.")
    .action(() => run(async (operations) => (await operations.restore()).show()));
  restore
    .command("begin")
    .description("Closes the service: it serves nobody and sends nothing.")
    .action(() => run(async (operations) => (await operations.restore()).begin()));
  const overdue = new Option("--overdue <WHAT>", "reminders that were due by now: hold, send or skip them")
    .choices(["hold", "send", "skip"])
    .default("hold" as const);
  restore
    .command("end")
    .description("Opens the service. Reminders due by now are held.")
    .addOption(overdue)
    .action(({ overdue: what }) => run(async (operations) => (await operations.restore()).end(what)));
  restore
    .command("release")
    .description("Sends the reminders that `restore end` has held.")
    .action(() => run(async (operations) => (await operations.restore()).decide("release", "send")));
  restore
    .command("drop")
    .description("Counts held reminders as sent: the next ones follow.")
    .action(() => run(async (operations) => (await operations.restore()).decide("drop", "skip")));
  admin
    .command("candidates")
    .description("Candidates")
    .command("erase")
    .description("Erases people for good, also while the service is closed.")
    .argument("<CANDIDATE_ID...>", "candidates to erase")
    .requiredOption("--yes", "yes, erase them")
    .action((ids) =>
      run(async (operations) => {
        for (const id of ids) await operations.erase(id);
        return { object: "erasure", erased: ids };
      }),
    );
}
