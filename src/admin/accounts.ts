import { command } from "./command.ts";

export const accountCommands = [
  command({
    words: "accounts create",
    help: "makes an account",
    required: { name: "NAME" },
    run: async ({ name }, { accounts }) => (await accounts()).createAccount({ name }),
  }),
  command({
    words: "accounts list",
    help: "every account, oldest first",
    run: async (_given, { accounts }) => (await accounts()).listAccounts(),
  }),
  command({
    words: "accounts suspend",
    help: "refuses every key of an account, at once and everywhere",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, { accounts }) => (await accounts()).suspendAccount(account),
  }),
  command({
    words: "accounts resume",
    help: "takes a suspension back",
    argument: "account",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, { accounts }) => (await accounts()).resumeAccount(account),
  }),
];
