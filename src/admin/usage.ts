import type { Command } from "@commander-js/extra-typings";
import { numberIn, type Run } from "./command.ts";

export function addUsageCommands(admin: Command, run: Run): void {
  admin
    .command("usage")
    .summary("Shows what an account used, hour by hour.")
    .description("Shows what each key of an account used and was refused, hour by hour. It is up to a minute old.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose usage to show")
    .option("--hours <NUMBER>", "hours before the current one: 1 to 720 (30 days)", numberIn, 24)
    .action(({ account, hours }) => run(async (operations) => (await operations.usage()).of(account, hours)));
  admin
    .command("top")
    .summary("Lists the accounts that were refused most.")
    .description("Lists the 50 accounts that were refused most, then those that used most. It is up to a minute old.")
    .option("--hours <NUMBER>", "hours before the current one: 1 to 720 (30 days)", numberIn, 1)
    .option("--surface <SURFACE>", "only requests of this surface")
    .action(({ hours, surface }) => run(async (operations) => (await operations.usage()).top(hours, surface)));
}
