import { command } from "./command.ts";

export const outreachCommands = [
  command({
    words: "outreach show",
    help: "shows a candidate's reminders: the plan and what was sent",
    argument: "candidate",
    required: { candidate: "CANDIDATE_ID" },
    run: async ({ candidate }, operations) => (await operations.outreach()).show(candidate),
  }),
  command({
    words: "outreach pause",
    help: "sends no reminders of an account until they are resumed",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.outreach()).pause(account),
  }),
  command({
    words: "outreach resume",
    help: "sends the reminders of an account again, and those that became due meanwhile",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.outreach()).resume(account),
  }),
];
