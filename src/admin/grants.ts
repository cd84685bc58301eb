import type { Command } from "@commander-js/extra-typings";
import { SURFACES } from "../limiter/surfaces.ts";
import { nounOf, numberIn, type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";

export function addGrantCommands(admin: Command, run: Run): void {
  const grants = nounOf(admin, "grants", "Grants: requests beyond the limits of one key");
  grants("create", "Lets a key make extra requests, once.")
    .description(
      "Lets a key make extra requests on each of these surfaces, once, while a limit is used up. " +
        "A command with --id can be repeated safely.",
    )
    .requiredOption("--key <KEY_ID>", "key that may make the requests")
    .requiredOption("--surface <SURFACES>", `one or more, with commas: ${SURFACES.join(", ")}`)
    .requiredOption("--amount <REQUESTS>", "extra requests on each surface: 1 to 10000000", numberIn)
    .requiredOption("--expires-in-hours <HOURS>", "hours until the rest expires: above 0, up to 2160", numberIn)
    .requiredOption("--approved-by <NAME>", "who approved it, for the audit")
    .requiredOption("--reason <TEXT>", "why, for the audit")
    .option("--id <GRANT_ID>", "grant_ and up to 64 letters, digits, - or _ (default: a new id)")
    .action(({ key, surface, amount, expiresInHours, approvedBy, reason, id }) =>
      run(async (operations) => {
        operations.actor(); // throws before anything is written
        const terms = { keyId: key, amount, expiresInHours, approvedBy, reason, ...(id !== undefined && { id }) };
        const service = await operations.grants();
        const [first = "", ...others] = new Set(surface.split(",").map((name) => name.trim()));
        if (others.length === 0) return service.create({ ...terms, surface: first });
        return service.createForSurfaces({ ...terms, surface: first }, [first, ...others]);
      }),
    );
  grants("list", "Lists the grants of an account, with what remains.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose grants to list")
    .action(({ account }) => run(async (operations) => (await operations.grants()).list(account)));
  grants("expiring", "Lists the grants of all accounts that end soon.")
    .requiredOption("--hours <HOURS>", "how far to look ahead: above 0, up to 2160", numberIn)
    .action(({ hours }) => run(async (operations) => (await operations.grants()).expiring(hours)));
  grants("revoke", "Revokes a grant at once, on every replica.")
    .argument("<GRANT_ID>", "grant to revoke")
    .option(...YES)
    .action((grant, { yes }) =>
      run(async (operations, context) => {
        await confirm(operations, context, `Revoke ${grant}?`, { yes });
        return (await operations.grants()).revoke(grant);
      }),
    );
}
