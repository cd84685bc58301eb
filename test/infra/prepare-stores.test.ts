import { mock } from "node:test";
import { expect } from "chai";
import { Collection, Db, MongoNetworkError, MongoServerError } from "mongodb";
import { prepareStores } from "../../src/infra/indexes.ts";
import { testConfig } from "../support/service.ts";

describe("the creation of indexes", () => {
  const stores = [{ indexes: [{ collection: "people", indexes: [{ key: { name: 1 } as const }] }] }];
  const asked: unknown[] = [];
  afterEach(() => {
    mock.restoreAll();
    asked.length = 0;
  });

  interface Logged {
    readonly level: "info" | "warn";
    readonly fields: { seconds?: unknown; building?: unknown; err?: unknown };
    readonly message: string;
  }

  /** Creates the indexes of a server that responds with `replies`, one after the other. @returns what was logged. */
  async function prepared(replies: (() => Promise<string[]>)[], onLog: (logged: Logged) => void = () => {}) {
    const lines: Logged[] = [];
    const at = (level: Logged["level"]) => (fields: object, message: string) => {
      const logged = { level, fields, message };
      lines.push(logged);
      onLog(logged);
    };
    mock.method(Collection.prototype, "createIndexes", (specs: unknown) => {
      asked.push(specs);
      return replies[asked.length - 1]?.() ?? Promise.resolve([]);
    });
    const url = testConfig().MONGODB_URL ?? "";
    const log = { info: at("info"), warn: at("warn") };
    await prepareStores(stores, { url, timeoutMs: 5_000, log, reportMs: 5, retryMs: 1 });
    return lines;
  }

  const serverError = (code: number) => new MongoServerError({ message: "no", code });

  for (const [what, error] of [
    ["the server steps down", serverError(189)],
    ["an election aborts it", serverError(276)],
    ["the connection is lost", new MongoNetworkError("lost")],
  ] as const)
    it(`is tried again if ${what}`, async () => {
      const lines = await prepared([() => Promise.reject(error)]);
      const warnings = lines.filter(({ level }) => level === "warn");
      expect(warnings.map(({ message }) => message)).to.deep.equal(["could not create the indexes, trying again"]);
      expect(warnings[0]?.fields).to.deep.equal({ err: error, seconds: 0 });
      expect(asked).to.deep.equal([[{ key: { name: 1 } }], [{ key: { name: 1 } }]]);
    });

  for (const [what, error] of [
    ["the user may not create indexes", serverError(13)],
    ["another error has the code of an election", Object.assign(new Error("no"), { code: 189 })],
  ] as const)
    it(`is given up if ${what}`, async () => {
      const failure = await prepared([() => Promise.reject(error)]).catch((thrown: unknown) => thrown);
      expect(failure).to.equal(error);
      expect(asked).to.have.length(1);
    });

  /** Returns what is reported while the server replies to a question about its operations like this. */
  async function reported(operations: () => Promise<object>): Promise<unknown> {
    const command: Db["command"] = Reflect.get(Db.prototype, "command");
    let question: unknown;
    mock.method(Db.prototype, "command", function (this: Db, ...args: Parameters<Db["command"]>) {
      if (!("currentOp" in args[0])) return command.apply(this, args);
      question = { database: this.databaseName, ...args[0] };
      return operations();
    });
    let done: (names: string[]) => void = () => {};
    const slow = () => new Promise<string[]>((resolve) => (done = resolve));
    const [first] = await prepared([slow], ({ message }) => {
      if (message === "still creating indexes") done([]);
    });
    expect(first).to.deep.include({ level: "info", message: "still creating indexes" });
    expect(question).to.deep.equal({ database: "admin", currentOp: 1, "command.createIndexes": { $exists: true } });
    expect(first?.fields.seconds).to.equal(0);
    return first?.fields.building;
  }

  it("reports how far it is", async () => {
    const inprog = [
      { ns: "onboarding.candidates", progress: { done: 3, total: 12 } },
      { ns: "onboarding.audit" },
      { progress: { done: 1, total: 2 } },
    ];
    expect(await reported(() => Promise.resolve({ inprog }))).to.deep.equal([
      "onboarding.candidates: 3 of 12",
      "an index: 1 of 2",
    ]);
  });

  it("reports that it goes on if the server does not say how far it is", async () => {
    expect(await reported(() => Promise.reject(serverError(13)))).to.deep.equal([]);
    mock.restoreAll();
    asked.length = 0;
    expect(await reported(() => Promise.resolve({}))).to.deep.equal([]);
  });
});
