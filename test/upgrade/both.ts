import { expect } from "chai";
import { openOperators } from "../support/operators.ts";
import { newAccount, testConfig, type TestAccount } from "../support/service.ts";
import { useAccount } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";
import { type Running, startVersion, useVersions } from "./versions.ts";

/** How long the process of 0.1.0 caches a key, in seconds. Its default is a minute. */
export const KEY_CACHE_SECONDS = 2;

/** Runs a process of either version on one Redis and one database, with a new account for each test. */
export function useBothVersions(): {
  running: Readonly<Record<"earlier" | "later", Running>>;
  account: TestAccount;
} {
  const versions = useVersions();
  const running = useStarted(
    "The two versions",
    async () => {
      const config = testConfig();
      const earlier = await startVersion(versions.earlier, config, { KEY_CACHE_SECONDS: `${KEY_CACHE_SECONDS}` });
      const later = await startVersion(versions.later, config);
      return { earlier, later, operators: await openOperators(config) };
    },
    async ({ earlier, later, operators }) => {
      for (const { member } of [earlier, later]) expect(await member.end("SIGTERM")).to.equal(0);
      await operators.mongo.db.dropDatabase();
      await operators.close();
    },
  );
  const account = useAccount({ account: () => newAccount(running.operators, running.later.url) });
  return { running, account };
}
