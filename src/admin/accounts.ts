import { command } from "./command.ts";
import { listOf } from "./print.ts";

export const accountCommands = [
  command({
    words: "accounts create",
    help: "creates an account",
    required: { name: "NAME" },
    run: async ({ name }, operations) => (await operations.accounts()).createAccount({ name }),
  }),
  command({
    words: "accounts list",
    help: "lists every account, oldest first",
    run: async (_given, operations) => listOf((await operations.accounts()).listAccounts()),
  }),
  command({
    words: "accounts suspend",
    help: "suspends an account: every replica refuses all its keys at once",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => {
      const accounts = await operations.accounts();
      await (await operations.outreach()).noteChange(account);
      return accounts.suspendAccount(account);
    },
  }),
  command({
    words: "accounts resume",
    help: "ends a suspension",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => {
      const accounts = await operations.accounts();
      await (await operations.outreach()).noteChange(account);
      return accounts.resumeAccount(account);
    },
  }),
  command({
    words: "accounts announce",
    help: "tells Redis the versions of all accounts, after a restore or a command that could not",
    run: async (_given, operations) => (await operations.accounts()).announceAll(),
  }),
];
