import { command } from "./command.ts";

export const keyCommands = [
  command({
    words: "keys create",
    help: "creates a key and shows its secret, only this once",
    required: { account: "ACCOUNT_ID", name: "NAME" },
    run: async ({ account, name }, operations) => (await operations.accounts()).createKey({ accountId: account, name }),
  }),
  command({
    words: "keys list",
    help: "lists the keys of an account, without secrets",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.accounts()).listKeys(account),
  }),
  command({
    words: "keys rotate",
    help: "gives a key a new secret, shown only this once; the old one works until the grace ends",
    argument: "key",
    required: { key: "KEY_ID", "grace-seconds": "SECONDS" },
    run: async ({ key, "grace-seconds": grace }, operations) => {
      const service = await operations.accounts();
      await operations.setClock().catch(() => undefined); // without Redis, the grace ends by this machine's clock
      return service.rotateKey({ keyId: key, graceSeconds: /^\d+$/.test(grace) ? Number(grace) : NaN });
    },
  }),
  command({
    words: "keys revoke",
    help: "revokes a key for good, at once on every replica",
    argument: "key",
    required: { key: "KEY_ID" },
    run: async ({ key }, operations) => (await operations.accounts()).revokeKey(key),
  }),
];
