import type { Command } from "@commander-js/extra-typings";
import { numberIn, type Run } from "./command.ts";

export function addKeyCommands(admin: Command, run: Run): void {
  const keys = admin.command("keys").description("API keys of accounts");
  keys
    .command("create")
    .description("Creates a key. Shows its secret, only this once.")
    .requiredOption("--account <ACCOUNT_ID>", "account that the key belongs to")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action(({ account, name }) =>
      run(async (operations) => (await operations.accounts()).createKey({ accountId: account, name })),
    );
  keys
    .command("list")
    .description("Lists the keys of an account, without secrets.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose keys to list")
    .action(({ account }) => run(async (operations) => (await operations.accounts()).listKeys(account)));
  keys
    .command("rotate")
    .summary("Gives a key a new secret, shown only this once.")
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
  keys
    .command("revoke")
    .description("Revokes a key for good, at once on every replica.")
    .argument("<KEY_ID>", "key to revoke")
    .action((keyId) => run(async (operations) => (await operations.accounts()).revokeKey(keyId)));
}
