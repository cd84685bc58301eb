import type { Command } from "@commander-js/extra-typings";
import { identifyKey, nameOfKey } from "../accounts/find.ts";
import { nounOf, numberIn, type Run, YES } from "./command.ts";
import { confirm, readKey } from "./dialogue.ts";

export function addKeyCommands(admin: Command, run: Run): void {
  const keys = nounOf(admin, "keys", "API keys of accounts");
  keys("create", "Creates a key. Shows its secret, only this once.")
    .requiredOption("--account <ACCOUNT_ID>", "account that the key belongs to")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action(({ account, name }) =>
      run(async (operations) => (await operations.accounts()).createKey({ accountId: account, name })),
    );
  keys("list", "Lists the keys of an account, or all, without secrets.")
    .option("--account <ACCOUNT_ID>", "only keys of this account")
    .option("--unused-days <DAYS>", "only active keys that nobody used for so long: 1 to 3650", numberIn)
    .action(({ account, unusedDays }) =>
      run(async (operations) => (await operations.accounts()).listKeys(account, unusedDays)),
    );
  keys("find", "Tells whose key is on standard input.")
    .description("Reads a key from standard input, and tells which one it is and whether it is accepted.")
    .option("--revoke", "revoke the key, with all its secrets")
    .option(...YES)
    .action(({ revoke, yes }) =>
      run(async (operations, context) => {
        const store = await operations.accountStore();
        const secret = await readKey(context);
        const match = await identifyKey(store, secret, operations.clock);
        if (revoke !== true) return match;
        const { id } = match.key;
        if (match.secret_status === "expired")
          throw new Error(`Nothing was changed: ${id} has a newer secret, and this one is refused already.`);
        await confirm(operations, context, `Revoke ${await nameOfKey(store, id)}?`, { yes });
        await (await operations.accounts()).revokeKey(id);
        return identifyKey(store, secret, operations.clock);
      }),
    );
  keys("rotate", "Gives a key a new secret, shown only this once.")
    .description("Gives a key a new secret, shown only this once. The old one works until the grace ends.")
    .argument("<KEY_ID>", "key to rotate")
    .requiredOption("--grace-seconds <SECONDS>", "seconds that the old one works: 0 to 7776000 (90 days)", numberIn)
    .action((keyId, { graceSeconds }) =>
      run(async (operations) => {
        const service = await operations.accounts();
        await operations.setClock().catch(() => undefined); // without Redis, the grace ends by this machine's clock
        return service.rotateKey({ keyId, graceSeconds });
      }),
    );
  keys("revoke", "Revokes a key for good, at once on every replica.")
    .argument("<KEY_ID>", "key to revoke")
    .option(...YES)
    .action((keyId, { yes }) =>
      run(async (operations, context) => {
        const name = await nameOfKey(await operations.accountStore(), keyId);
        await confirm(operations, context, `Revoke ${name}?`, { yes });
        return (await operations.accounts()).revokeKey(keyId);
      }),
    );
}
