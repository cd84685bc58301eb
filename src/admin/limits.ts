import type { Command } from "@commander-js/extra-typings";
import { wholeNumber } from "../problems.ts";
import { nounOf, numberIn, type Run } from "./command.ts";

export function addLimitCommands(admin: Command, run: Run): void {
  const limits = nounOf(admin, "limits", "Limits of accounts and keys");
  limits("show", "Shows what an account and its keys have used.")
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
  limits("probe", "Checks that the limits are exact, for the alerts.")
    .description(
      "Checks that the limits of an account of its own are exact: offers a little more than start, pack and settings " +
        "allow in a window, about 90 requests. Keeps the result where the metric onboarding_limits_exact finds it.",
    )
    .requiredOption("--url <URL>", "where the service's replicas are reached together")
    .option("--settle-seconds <SECONDS>", "seconds that Redis must have been the same before: 0 to 60", numberIn, 3)
    .action(({ url, settleSeconds }) =>
      run(async (operations) => {
        wholeNumber("/settle_seconds", settleSeconds, 0, 60); // its mark in Redis lasts for two minutes
        const { probeLimits } = await import("./probe.ts");
        return probeLimits(operations, url.replace(/\/+$/, ""), settleSeconds);
      }),
    );
}
