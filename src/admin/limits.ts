import type { Command } from "@commander-js/extra-typings";
import type { Run } from "./command.ts";

export function addLimitCommands(admin: Command, run: Run): void {
  const limits = admin.command("limits").description("Limits of accounts and keys");
  limits
    .command("show")
    .description("Shows what an account and its keys have used.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose limits to show")
    .option("--watch", "show a table, and keep it up to date until Ctrl-C")
    .action(({ account, watch }) =>
      run(async (operations) => {
        if (watch !== true) return operations.limitsOf(account);
        const { watchLimits } = await import("./watch.ts");
        await watchLimits(() => operations.limitsOf(account), process.stdout);
        return undefined;
      }),
    );
}
