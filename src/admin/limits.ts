import { command } from "./command.ts";

export const limitCommands = [
  command({
    words: "limits show",
    help: "shows what an account and its keys have used of every surface; --watch shows a live table",
    required: { account: "ACCOUNT_ID" },
    flags: ["watch"],
    run: async ({ account, watch }, operations) => {
      const reader = await operations.limits();
      if (watch === undefined) return reader.read(account);
      const { watchLimits } = await import("./watch.ts");
      await watchLimits(() => reader.read(account), process.stdout);
      return undefined;
    },
  }),
];
