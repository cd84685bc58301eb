import { MAX_LISTED } from "../audit/trail.ts";
import { command } from "./command.ts";

const DEFAULT_LIMIT = "50";

export const auditCommands = [
  command({
    words: "audit list",
    help: `lists who changed what and when, newest first; ${DEFAULT_LIMIT} entries by default, at most ${MAX_LISTED}`,
    optional: { account: "ACCOUNT_ID", limit: "NUMBER" },
    run: async ({ account, limit = DEFAULT_LIMIT }, operations) =>
      (await operations.audit()).list(/^\d+$/.test(limit) ? Number(limit) : NaN, account),
  }),
];
