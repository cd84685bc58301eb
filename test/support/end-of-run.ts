import { randomUUID } from "node:crypto";

/**
 * Loaded by mocha with every run of tests (.mocharc.json): what lives as long as the run. It imports little, because mocha
 * also loads it in the process that only starts the workers.
 */

const stops = new Set<() => Promise<unknown>>();

/**
 * Calls this after all tests, if they run in this process. The workers of a parallel run are simply ended: whatever outlives
 * a worker must not be stopped in this way.
 */
export function atEndOfRun(stop: () => Promise<unknown>): void {
  stops.add(stop);
}

/** mocha calls this once before all tests, in the process that starts the workers. */
export function mochaGlobalSetup(): void {
  process.env.TEST_DATABASES = `test-${randomUUID().slice(0, 8)}`;
}

/** mocha calls this once after all tests, in the same process. Drops the databases that tests and workers have left. */
export async function mochaGlobalTeardown(): Promise<void> {
  for (const stop of stops) await stop();
  const { MONGODB_URL, TEST_DATABASES } = process.env;
  if (!MONGODB_URL) return;
  const { MongoClient } = await import("mongodb");
  const client = new MongoClient(MONGODB_URL, { serverSelectionTimeoutMS: 5_000 });
  try {
    const { databases } = await client.db().admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith(`${TEST_DATABASES}-`)) await client.db(name).dropDatabase();
  } finally {
    await client.close();
  }
}
