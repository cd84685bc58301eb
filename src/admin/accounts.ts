import { command } from "./command.ts";

export const accountCommands = [
  command({
    words: "accounts create",
    help: "makes an account",
    required: { name: "NAME" },
    run: async ({ name }, operations) => (await operations.accounts()).createAccount({ name }),
  }),
  command({
    words: "accounts list",
    help: "every account, oldest first",
    run: async (_given, operations) => (await operations.accounts()).listAccounts(),
  }),
  command({
    words: "accounts suspend",
    help: "refuses every key of an account, at once and everywhere",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.accounts()).suspendAccount(account),
  }),
  command({
    words: "accounts resume",
    help: "takes a suspension back",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.accounts()).resumeAccount(account),
  }),
];
