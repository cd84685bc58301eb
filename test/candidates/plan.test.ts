import { expect } from "chai";
import type { CommandStartedEvent } from "mongodb";
import { ExternalIds } from "../../src/candidates/external-id-reader.ts";
import { CandidateReader } from "../../src/candidates/reader.ts";
import { feedPosition } from "../../src/candidates/feed-clock.ts";

import { createIndexes } from "../../src/infra/indexes.ts";
import { connectMongo, type Mongo } from "../../src/infra/mongo.ts";
import { withOptions } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useStarted } from "../support/use-started.ts";

type Find = { find: string; filter: object; sort?: object; projection?: object; limit?: number };

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
    // Rows that every index finds: MongoDB tries the plans out.
    const rows = Array.from({ length: 20 }, (_, n) => ({
      _id: `cand_${n}`,
      account: "acct_1",
      change: feedPosition(n),
      state: "created",
      external_id: `ats-${n}`,
      created_at: `2026-08-17T09:30:0${n % 10}.000Z`,
      words: ["a", "ad"],
      deleted: true,
      size: 1,
    }));
    await mongo.db.collection<{ _id: string }>("candidates").insertMany(rows);
  });

  /** Returns the engine's plan of the query that `read` makes: MongoDB's stages, or the stand-in's words of SQLite. */
  async function planOf(read: () => Promise<unknown>): Promise<string> {
    const finds: Find[] = [];
    const note = ({ command }: CommandStartedEvent) => void finds.push(command as unknown as Find);
    mongo.client.on("commandStarted", note);
    await read();
    mongo.client.off("commandStarted", note);
    const { find, filter, sort, projection, limit } = finds.find((command) => "find" in command)!;
    const query = { find, filter, projection, limit, ...(sort === undefined ? {} : { sort }) };
    const { queryPlanner } = await mongo.db.command({ explain: query });
    return JSON.stringify((queryPlanner as { winningPlan: unknown }).winningPlan);
  }

  const page = { accountId: "acct_1", after: "", limit: 200 };
  // MongoDB names an index account_1_change_1, the stand-in idx_candidates_account_change.
  const BY_CHANGE = /[_"]account(_1)?_change(_1)?\b/;
  const BY_STATE = /[_"]account(_1)?_state(_1)?_change(_1)?\b/;
  const BY_EXTERNAL_ID = /[_"]account(_1)?_external_id(_1)?\b/;
  // The stand-in has no index of what is in a list: it looks at the candidates of the account.
  const BY_WORDS = /"account_1_words_1_created_at_1"|idx_candidates_account_/;
  const QUERIES: [what: string, index: RegExp, read: () => Promise<unknown>][] = [
    ["a page", BY_CHANGE, () => reader.feed(page)],
    ["an unchanged page", BY_CHANGE, () => reader.positions(page)],
    ["a page of one state", BY_STATE, () => reader.feed({ ...page, state: "created" })],
    ["a look-up by external_id", BY_EXTERNAL_ID, () => reader.feed({ ...page, external_id: "ats-1" })],
    ["a search", BY_WORDS, () => reader.feed({ ...page, words: ["ad", "a"] })],
    ["the holder of an external_id", BY_EXTERNAL_ID, () => new ExternalIds(mongo).holderOf("acct_1", "ats-1")],
  ];
  for (const [what, index, read] of QUERIES) {
    it(`use their index, and never scan: ${what}`, async () => {
      const plan = await planOf(read);
      expect(plan)
        .to.match(/IXSCAN|USING (COVERING )?INDEX/)
        .and.to.match(index)
        .and.not.to.match(/COLLSCAN|SCAN candidates/);
      // Only MongoDB's plan shows this. At most one candidate has an external_id.
      if (index !== BY_EXTERNAL_ID) expect(plan).not.to.include('"SORT"');
    });
  }
});
