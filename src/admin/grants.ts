import { command } from "./command.ts";

const DECIMAL = /^\d+(\.\d+)?$/;

export const grantCommands = [
  command({
    words: "grants create",
    help: "lets one key exceed its limits once; with --id it can be repeated safely",
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
      };
      const grants = await operations.grants();
      const surfaces = [...new Set(surface.split(",").map((name) => name.trim()))];
      const create = (name: string, of = id) =>
        grants.create({ ...terms, surface: name, ...(of !== undefined && { id: of }) });
      if (surfaces.length === 1) return create(surface);
      // Each surface has a grant of its own, so each gets an id of its own that a repeated command derives again.
      const data = [];
      for (const name of surfaces) data.push(await create(name, id === undefined ? undefined : `${id}-${name}`));
      return { object: "list", data };
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

/** Returns NaN if the text is not a plain decimal number. The service then answers what it must be. */
function numberIn(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}
