import type { Command } from "@commander-js/extra-typings";
import { nounOf, numberIn, type Run } from "./command.ts";

export function addOutreachCommands(admin: Command, run: Run): void {
  const outreach = nounOf(admin, "outreach", "Reminders to candidates and referees");
  outreach("show", "Shows a candidate's reminders: planned and sent.")
    .argument("<CANDIDATE_ID>", "candidate whose reminders to show")
    .action((candidate) => run(async (operations) => (await operations.outreach()).show(candidate)));
  outreach("pause", "Stops the reminders of an account.")
    .requiredOption("--account <ACCOUNT_ID>", "account that must send none")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).pause(account)));
  outreach("resume", "Sends an account's reminders again, also those now due.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may send again")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).resume(account)));
  outreach("opt-outs", "Lists who wants no more messages, without addresses.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose messages they refused")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).optOuts(account)));
  outreach("allow", "Lets an account write to an opted-out address again.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may write again")
    .requiredOption("--address <EMAIL>", "address whose owner had opted out")
    .action(({ account, address }) => run(async (operations) => (await operations.outreach()).allow(account, address)));
  outreach("raise", "Sets for a time how much an account may send a day.")
    .description("Sets, for a time, how many messages an account may send a day, and how many to new addresses.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose limits to set")
    .requiredOption("--per-day <MESSAGES>", "messages a day: 0 to 1000000", numberIn)
    .requiredOption("--new-per-day <MESSAGES>", "messages a day to new addresses: 0 to 1000000", numberIn)
    .requiredOption("--expires-in-hours <HOURS>", "hours until it ends: above 0, up to 2160", numberIn)
    .requiredOption("--approved-by <NAME>", "who approved it, for the audit")
    .requiredOption("--reason <TEXT>", "why, for the audit")
    .action(({ account, ...request }) =>
      run(async (operations) => (await operations.outreach()).raise(account, request)),
    );
  outreach("top", "Lists the accounts that sent most messages.")
    .requiredOption("--hours <HOURS>", "how far to look back, in hours: 1 to 720", numberIn)
    .action(({ hours }) => run(async (operations) => (await operations.outreach()).top(hours)));
}
