import { expect } from "chai";
import type { CommandStartedEvent } from "mongodb";
import { CandidateReader } from "../../src/candidates/reader.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { withOptions } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useStarted } from "../support/use-started.ts";

type Find = { find: string; filter: object };

describe("the list's queries", () => {
  const mongo: Mongo = useStarted(
    "The database",
    () =>
      connectMongo({ url: withOptions(testConfig().MONGODB_URL ?? "", { monitorCommands: "true" }), timeoutMs: 5_000 }),
    async (started) => {
      await started.db.dropDatabase();
      await started.close();
    },
  );
  let reader: CandidateReader;
  before(async () => {
    reader = new CandidateReader(mongo);
    await createIndexes(mongo.db, [reader]);
    await mongo.db.collection<{ _id: string }>("candidates").insertOne({ _id: "cand_1" });
  });

  /** Returns the engine's plan of the query that `read` makes: MongoDB's stages, or the stand-in's words of SQLite. */
  async function planOf(read: () => Promise<unknown>): Promise<string> {
    const finds: Find[] = [];
    const note = ({ command }: CommandStartedEvent) => void finds.push(command as unknown as Find);
    mongo.client.on("commandStarted", note);
    await read();
    mongo.client.off("commandStarted", note);
    const [{ find, filter } = { find: "", filter: {} }] = finds.filter((command) => "find" in command);
    const { queryPlanner } = await mongo.db.command({ explain: { find, filter } });
    return JSON.stringify((queryPlanner as { winningPlan: unknown }).winningPlan);
  }

  const page = { accountId: "acct_1", after: "", limit: 200 };
  const QUERIES: Record<string, () => Promise<unknown>> = {
    "a page": () => reader.feed(page),
    "an unchanged page": () => reader.places(page),
    "a page of one state": () => reader.feed({ ...page, state: "created" }),
    "a look-up by external_id": () => reader.feed({ ...page, external_id: "ats-1" }),
    "the holder of an external_id": () => reader.holderOf("acct_1", "ats-1"),
  };
  for (const [what, read] of Object.entries(QUERIES)) {
    it(`use an index, and never scan: ${what}`, async () => {
      expect(await planOf(read))
        .to.match(/IXSCAN|USING (COVERING )?INDEX/)
        .and.not.to.match(/COLLSCAN|SCAN candidates/);
    });
  }
});
