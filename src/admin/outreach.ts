import { command } from "./command.ts";
import { numberIn } from "./number.ts";

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
  command({
    words: "outreach opt-outs",
    help: "lists who wants no more messages of an account, without addresses",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.outreach()).optOuts(account),
  }),
  command({
    words: "outreach allow",
    help: "lets an account write again to an address whose owner had opted out",
    required: { account: "ACCOUNT_ID", address: "EMAIL" },
    run: async ({ account, address }, operations) => (await operations.outreach()).allow(account, address),
  }),
  command({
    words: "outreach raise",
    help: "sets how many messages an account may send a day, and how many to new addresses, for a time",
    required: {
      account: "ACCOUNT_ID",
      "per-day": "MESSAGES",
      "new-per-day": "MESSAGES",
      "expires-in-hours": "HOURS",
      "approved-by": "NAME",
      reason: "TEXT",
    },
    run: async (
      {
        account,
        "per-day": perDay,
        "new-per-day": newPerDay,
        "expires-in-hours": hours,
        "approved-by": approvedBy,
        reason,
      },
      operations,
    ) => {
      const amounts = { perDay: numberIn(perDay), newPerDay: numberIn(newPerDay), expiresInHours: numberIn(hours) };
      return (await operations.outreach()).raise(account, { ...amounts, approvedBy, reason });
    },
  }),
  command({
    words: "outreach top",
    help: "lists how many messages each account has sent, the most first",
    required: { hours: "HOURS" },
    run: async ({ hours }, operations) => (await operations.outreach()).top(numberIn(hours)),
  }),
];
