import { MAX_LISTED } from "../audit/trail.ts";
import { command } from "./command.ts";

const LISTED = "50";

export const auditCommands = [
  command({
    words: "audit list",
    help: `who did what and when, newest first; ${LISTED} unless told, at most ${MAX_LISTED}`,
    optional: { account: "ACCOUNT_ID", limit: "NUMBER" },
    run: async ({ account, limit = LISTED }, operations) =>
      (await operations.audit()).list(/^\d+$/.test(limit) ? Number(limit) : NaN, account),
  }),
];
