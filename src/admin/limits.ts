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
        const reader = await operations.limits();
        if (watch !== true) return reader.read(account);
        const { watchLimits } = await import("./watch.ts");
        await watchLimits(() => reader.read(account), process.stdout);
        return undefined;
      }),
    );
}
