import type { Command } from "@commander-js/extra-typings";
import type { AccountService } from "../accounts/service.ts";
import type { Run } from "./command.ts";

export function addAccountCommands(admin: Command, run: Run): void {
  const accounts = admin.command("accounts").description("Accounts, which own keys and candidates");
  const changeStatus = (account: string, change: (service: AccountService) => Promise<object>) =>
    run(async (operations) => {
      const service = await operations.accounts();
      await (await operations.outreach()).noteChange(account);
      return change(service);
    });
  accounts
    .command("create")
    .description("Creates an account.")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action(({ name }) => run(async (operations) => (await operations.accounts()).createAccount({ name })));
  accounts
    .command("list")
    .description("Lists every account, oldest first.")
    .action(() => run(async (operations) => (await operations.accounts()).listAccounts()));
  accounts
    .command("suspend")
    .description("Suspends an account: all its keys are refused at once.")
    .argument("<ACCOUNT_ID>", "account to suspend")
    .action((account) => changeStatus(account, (service) => service.suspendAccount(account)));
  accounts
    .command("resume")
    .description("Ends the suspension of an account.")
    .argument("<ACCOUNT_ID>", "account to resume")
    .action((account) => changeStatus(account, (service) => service.resumeAccount(account)));
  accounts
    .command("announce")
    .summary("Tells the limiter the version of every account.")
    .description(
      "Tells the limiter, in Redis, the version of every account. Run it after MongoDB was restored from a backup, " +
        "and after a command that says that the limiter could not be updated.",
    )
    .action(() => run(async (operations) => (await operations.accounts()).announceAll()));
}
