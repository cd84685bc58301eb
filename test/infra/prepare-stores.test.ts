import { mock } from "node:test";
import { expect } from "chai";
import { Collection, Db, MongoServerError } from "mongodb";
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
    readonly fields: { seconds?: unknown; building?: unknown };
    readonly message: string;
  }

  /** Creates the indexes of a server that responds with `replies`, one after the other. @returns what was logged. */
  async function prepared(replies: (() => Promise<string[]>)[], onLog: (logged: Logged) => void = () => {}) {
    const lines: Logged[] = [];
    const info = (fields: object, message: string) => {
      lines.push({ fields, message });
      onLog({ fields, message });
    };
    mock.method(Collection.prototype, "createIndexes", (specs: unknown) => {
      asked.push(specs);
      return replies[asked.length - 1]?.() ?? Promise.resolve([]);
    });
    const url = testConfig().MONGODB_URL ?? "";
    await prepareStores(stores, { url, timeoutMs: 5_000, log: { info }, reportMs: 5 });
    return lines;
  }

  const serverError = (code: number) => new MongoServerError({ message: "no", code });

  it("fails with the server's error", async () => {
    const error = serverError(13);
    const failure = await prepared([() => Promise.reject(error)]).catch((thrown: unknown) => thrown);
    expect(failure).to.equal(error);
    expect(asked).to.deep.equal([[{ key: { name: 1 } }]]);
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
    expect(first).to.deep.include({ message: "still creating indexes" });
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
