import type { Command } from "@commander-js/extra-typings";
import { findAccounts } from "../accounts/find.ts";
import { DESPITE_HOLDS, nounOf, type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";
import { endAccount } from "./erase-account.ts";

export function addAccountCommands(admin: Command, run: Run): void {
  const accounts = nounOf(admin, "accounts", "Accounts, which own keys and candidates");
  accounts("create", "Creates an account.")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .option("--note <TEXT>", "a contract or a contact, for `find`; at most 200 characters")
    .action((options) => run(async (operations) => (await operations.accounts()).createAccount(options)));
  accounts("list", "Lists every account, oldest first.").action(() =>
    run(async (operations) => (await operations.accounts()).listAccounts()),
  );
  accounts("show", "Shows an account and its keys.")
    .argument("<ACCOUNT_ID>", "account to show")
    .action((account) => run(async (operations) => (await operations.accounts()).showAccount(account)));
  accounts("find", "Finds accounts by name, note or start of a key.")
    .argument("<TEXT>", "part of the name or note, in any case; or a key's first 12 characters")
    .action((text) => run(async (operations) => findAccounts(await operations.accountStore(), text)));
  accounts("rename", "Gives an account another name.")
    .argument("<ACCOUNT_ID>", "account to rename")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action((id, { name }) => run(async (operations) => (await operations.accounts()).renameAccount(id, name)));
  accounts("suspend", "Suspends an account: all its keys are refused at once.")
    .argument("<ACCOUNT_ID>", "account to suspend")
    .option(...YES)
    .action((account, { yes }) =>
      run(async (operations, context) => {
        const { name, active_keys } = await (await operations.accounts()).showAccount(account);
        await confirm(operations, context, `Suspend ${account} (${name}) with ${active_keys} active keys?`, { yes });
        return operations.setStatus(account, "suspended");
      }),
    );
  accounts("resume", "Ends the suspension of an account.")
    .argument("<ACCOUNT_ID>", "account to resume")
    .action((account) => run((operations) => operations.setStatus(account, "active")));
  accounts("erase", "Erases an account for good, with all its people.")
    .description(
      "Suspends an account, then erases for good all its people, keys, settings and links. Its audit and a tombstone stay. After an interruption, run the same command again.",
    )
    .argument("<ACCOUNT_ID>", "account to erase")
    .option(...YES)
    .option(...DESPITE_HOLDS)
    .action((id, options) => run((operations, context) => endAccount(operations, context, id, options)));
  accounts("announce", "Tells the limiter the version of every account.")
    .description(
      "Tells the limiter, in Redis, the version of every account. Run it after MongoDB was restored from a backup, " +
        "and after a command that says that the limiter could not be updated.",
    )
    .action(() => run(async (operations) => (await operations.accounts()).announceAll()));
}
