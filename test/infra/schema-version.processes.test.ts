import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { checkSchemaVersion } from "../../src/infra/schema-version.ts";
import { complaintOf } from "../admin/support.ts";
import { compiled } from "../support/compiled.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";

const MARK = { _id: "forms", store: 1, limiter: 1 };

describe("the mark of the schema versions", () => {
  const mongo = useDatabase();
  const marks = () => mongo.db.collection<typeof MARK>("meta");
  /** The servers' URLs, with the database of this suite. */
  const environment = () => {
    const { REDIS_URL, MONGODB_URL } = testConfig();
    return { MONGODB_URL: withDatabase(MONGODB_URL ?? "", mongo.db.databaseName), REDIS_URL: REDIS_URL ?? "" };
  };
  const outcomeOf = (check: Promise<unknown>) =>
    check.then(
      () => "accepted",
      (error: Error) => error.message,
    );
  afterEach(() => marks().deleteMany({}));

  it("is written once if several processes start on a database without it", async () => {
    await Promise.all([checkSchemaVersion(mongo), checkSchemaVersion(mongo), checkSchemaVersion(mongo)]);
    expect(await marks().find().toArray()).to.deep.equal([MARK]);
  });

  for (const what of ["store", "limiter"] as const) {
    const line =
      `holds schema version 2 of the ${what}, and this release knows 1 only. Start a release that knows it, or restore a ` +
      "backup from before the upgrade; CHANGELOG.md says which release changed the schema version.";

    it(`ends the process at its start, with one line, if it names another schema version of the ${what}`, async () => {
      await marks().insertOne({ ...MARK, [what]: 2 });
      const env = { PATH: process.env.PATH, HOST: "127.0.0.1", PORT: "0", OPS_PORT: "0", ...environment() };
      const started = promisify(execFile)(process.execPath, [await compiled("main.ts")], { env, timeout: 20_000 });
      const ended = (await started.catch((error: unknown) => error)) as {
        code: number;
        stdout: string;
        stderr: string;
      };
      expect(ended).to.include({ code: 1, stderr: "" });
      const [logged = "", ...more] = ended.stdout.trimEnd().split("\n");
      const { error, msg } = JSON.parse(logged) as { error: { message: string }; msg: string };
      expect({ msg, message: error.message, more }).to.deep.equal({
        msg: "the process ends",
        message: `The database "${mongo.db.databaseName}" ${line}`,
        more: [],
      });
      expect(await marks().find().toArray()).to.deep.equal([{ ...MARK, [what]: 2 }]);
    });

    it(`fails a command of the operators, with one line, if it names another schema version of the ${what}`, async () => {
      await marks().insertOne({ ...MARK, [what]: 2 });
      const complaint = await complaintOf(["accounts", "list"], environment());
      expect(complaint).to.equal(`The database "${mongo.db.databaseName}" ${line}`);
    });
  }

  it("may not name anything that this release does not know", async () => {
    await marks().insertOne({ ...MARK, search: 1 } as typeof MARK);
    expect(await outcomeOf(checkSchemaVersion(mongo))).to.include(
      "holds schema version 1 of the search, and this release knows none.",
    );
  });

  it("is raised by a release that reads the old one and writes a new one, and the old release then refuses it", async () => {
    await checkSchemaVersion(mongo);
    const later = { store: { writes: 2, reads: [1, 2] }, limiter: { writes: 1, reads: [1] } };
    await Promise.all([
      checkSchemaVersion(mongo, later),
      checkSchemaVersion(mongo, later),
      checkSchemaVersion(mongo, later),
    ]);
    expect(await marks().find().toArray()).to.deep.equal([{ ...MARK, store: 2 }]);
    expect(await outcomeOf(checkSchemaVersion(mongo))).to.include(
      "holds schema version 2 of the store, and this release knows 1 only.",
    );
  });

  it("refuses a release whose mark loses to that of a later one", async () => {
    await checkSchemaVersion(mongo);
    const later = { store: { writes: 2, reads: [1, 2] }, limiter: { writes: 1, reads: [1] } };
    const middle = { store: { writes: 1, reads: [1] }, limiter: { writes: 2, reads: [1, 2] } };
    // Between what the middle version reads and what it writes, the later version raises the mark.
    const between = new Proxy(mongo, {
      get(of, name: keyof typeof mongo) {
        if (name !== "bounded") return of[name];
        const bounded: (typeof mongo)["bounded"] = async (operation, run) => {
          if (operation === "update meta") await checkSchemaVersion(mongo, later);
          return mongo.bounded(operation, run);
        };
        return bounded;
      },
    });
    expect(await outcomeOf(checkSchemaVersion(between, middle))).to.include(
      "holds schema version 2 of the store, and this release knows 1 only.",
    );
  });

  it("gets what it lacks", async () => {
    await marks().insertOne({ _id: "forms", store: 1 } as typeof MARK);
    await checkSchemaVersion(mongo);
    expect(await marks().find().toArray()).to.deep.equal([MARK]);
  });
});
