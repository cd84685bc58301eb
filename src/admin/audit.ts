import type { Command } from "@commander-js/extra-typings";
import { MAX_LISTED } from "../audit/trail.ts";
import { numberIn, type Run } from "./command.ts";

export function addAuditCommands(admin: Command, run: Run): void {
  const audit = admin.command("audit").description("Audit: who changed what, and when");
  audit
    .command("list")
    .description("Lists who changed what and when, newest first.")
    .option("--account <ACCOUNT_ID>", "only changes of this account")
    .option("--limit <NUMBER>", `maximum number of changes: 1 to ${MAX_LISTED}`, numberIn, 50)
    .action(({ account, limit }) => run(async (operations) => (await operations.audit()).list(limit, account)));
}
