import { command } from "./command.ts";

export const keyCommands = [
  command({
    words: "keys create",
    help: "makes a key and shows its secret, this once",
    required: { account: "ACCOUNT_ID", name: "NAME" },
    run: async ({ account, name }, operations) => (await operations.accounts()).createKey({ accountId: account, name }),
  }),
  command({
    words: "keys list",
    help: "the keys of an account, never a secret",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.accounts()).listKeys(account),
  }),
  command({
    words: "keys rotate",
    help: "gives a key a new secret; the old one works on for the grace",
    argument: "key",
    required: { key: "KEY_ID", "grace-seconds": "SECONDS" },
    run: async ({ key, "grace-seconds": grace }, operations) => {
      const service = await operations.accounts();
      await operations.setClock().catch(() => undefined); // without Redis this machine's own clock says when the grace ends
      return service.rotateKey({ keyId: key, graceSeconds: /^\d+$/.test(grace) ? Number(grace) : NaN });
    },
  }),
  command({
    words: "keys revoke",
    help: "ends a key for good, at once and everywhere",
    argument: "key",
    required: { key: "KEY_ID" },
    run: async ({ key }, operations) => (await operations.accounts()).revokeKey(key),
  }),
];
