import type { Command } from "@commander-js/extra-typings";
import { numberIn, type Run } from "./command.ts";

export function addOutreachCommands(admin: Command, run: Run): void {
  const outreach = admin.command("outreach").description("Reminders to candidates and referees");
  outreach
    .command("show")
    .description("Shows a candidate's reminders: planned and sent.")
    .argument("<CANDIDATE_ID>", "candidate whose reminders to show")
    .action((candidate) => run(async (operations) => (await operations.outreach()).show(candidate)));
  outreach
    .command("pause")
    .description("Stops the reminders of an account.")
    .requiredOption("--account <ACCOUNT_ID>", "account that must send none")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).pause(account)));
  outreach
    .command("resume")
    .description("Sends an account's reminders again, also those now due.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may send again")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).resume(account)));
  outreach
    .command("opt-outs")
    .description("Lists who wants no more messages, without addresses.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose messages they refused")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).optOuts(account)));
  outreach
    .command("allow")
    .description("Lets an account write to an opted-out address again.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may write again")
    .requiredOption("--address <EMAIL>", "address whose owner had opted out")
    .action(({ account, address }) => run(async (operations) => (await operations.outreach()).allow(account, address)));
  outreach
    .command("raise")
    .summary("Sets for a time how much an account may send a day.")
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
  outreach
    .command("top")
    .description("Lists the accounts that sent most messages.")
    .requiredOption("--hours <HOURS>", "how far to look back, in hours: 1 to 720", numberIn)
    .action(({ hours }) => run(async (operations) => (await operations.outreach()).top(hours)));
}
