import { command } from "./command.ts";
import { numberIn } from "./number.ts";

export const grantCommands = [
  command({
    words: "grants create",
    help: "lets one key exceed the limit of each surface once; with --id it can be repeated safely",
    required: {
      key: "KEY_ID",
      surface: "SURFACE[,SURFACE…]",
      amount: "REQUESTS",
      "expires-in-hours": "HOURS",
      "approved-by": "NAME",
      reason: "TEXT",
    },
    optional: { id: "GRANT_ID" },
    run: async (
      { key, surface, amount, "expires-in-hours": hours, "approved-by": approvedBy, reason, id },
      operations,
    ) => {
      const terms = {
        keyId: key,
        amount: numberIn(amount),
        expiresInHours: numberIn(hours),
        approvedBy,
        reason,
        ...(id !== undefined && { id }),
      };
      const grants = await operations.grants();
      const [first = "", ...others] = new Set(surface.split(",").map((name) => name.trim()));
      if (others.length === 0) return grants.create({ ...terms, surface: first });
      return grants.createForSurfaces({ ...terms, surface: first }, [first, ...others]);
    },
  }),
  command({
    words: "grants list",
    help: "lists the grants of an account, with what remains of each",
    required: { account: "ACCOUNT_ID" },
    run: async ({ account }, operations) => (await operations.grants()).list(account),
  }),
  command({
    words: "grants revoke",
    help: "revokes a grant at once, on every replica",
    argument: "grant",
    required: { grant: "GRANT_ID" },
    run: async ({ grant }, operations) => (await operations.grants()).revoke(grant),
  }),
];
