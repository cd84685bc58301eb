import { MongoError, MongoNetworkError, MongoServerError } from "mongodb";
import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import { connectMongo, isDuplicateKey, isStoreDown } from "../../src/infra/mongo.ts";
import { Problem, problem } from "../../src/problems.ts";
import { Scrape } from "../support/metrics.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";

const withCode = (code: unknown) => Object.assign(new Error("broken"), { code });
const DUPLICATE = new MongoServerError({ message: "duplicate", code: 11000 });

describe("an operation of the store", () => {
  const mongo = useDatabase();
  const failing = (thrown: unknown) =>
    mongo.bounded("find things", () => Promise.reject(thrown as Error)).catch((failure: unknown) => failure);

  const faults: Record<string, unknown> = {
    "a refusal of the server": new MongoServerError({ message: "no", code: 1 }),
    "a lost connection": new MongoNetworkError("lost"),
    "an error of the driver": new MongoError("odd"),
  };
  for (const code of ["EPIPE", "ETIMEDOUT", "ECONNRESET", "ERR_STREAM_DESTROYED", "ERR_SOCKET_CLOSED"])
    faults[code] = withCode(code);
  for (const [what, error] of Object.entries(faults))
    it(`is store_unavailable after ${what}`, async () => {
      const failure = await failing(error);
      expect(failure).to.be.an.instanceOf(Problem).and.include({
        code: "store_unavailable",
        status: 503,
        message: "The store did not answer in time. Try again shortly.",
      });
      expect((failure as Problem).extras).to.deep.equal({ headers: { "Retry-After": "2" }, cause: error });
    });

  const others: Record<string, unknown> = {
    "a duplicate key": DUPLICATE,
    "an error without a code": new Error("ours"),
    "what is no error": { code: "EPIPE" },
  };
  for (const code of ["XEPIPE", "EPIPES", "ECONN", "ECONN!", "ERR_STREAM_", "ERR_OTHER_THING", 11000, undefined])
    others[`an error with the code ${code}`] = withCode(code);
  for (const [what, error] of Object.entries(others))
    it(`fails with ${what} itself`, async () => {
      expect(await failing(error)).to.equal(error);
    });

  it("fails in the same way if it throws before it begins", async () => {
    const fail = (thrown: Error) =>
      mongo
        .bounded("find things", () => {
          throw thrown;
        })
        .catch((failure: unknown) => failure);
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const own = new Error("ours");
    const failed = fail(own);
    expect(timers(), "its time limit is not left behind").to.equal(before);
    expect(await failed).to.equal(own);
    expect(await fail(withCode("EPIPE"))).to.include({ code: "store_unavailable" });
  });

  it("gets the limits for the driver", async () => {
    const { signal, ...limits } = await mongo.bounded("find things", (given) => Promise.resolve(given));
    expect(limits).to.deep.equal({ maxTimeMS: 5_000, ignoreUndefined: true });
    expect(signal.aborted).to.equal(false);
  });

  it("is late once it has taken longer than it may", () => {
    const now = performance.now();
    expect([mongo.isLate(now), mongo.isLate(now - 5_001)]).to.deep.equal([false, true]);
  });
});

describe("what is told of an error of the store", () => {
  it("is a duplicate key only if the server says so", () => {
    const errors = [DUPLICATE, new MongoServerError({ message: "no", code: 11001 }), withCode(11000), undefined];
    expect(errors.map(isDuplicateKey)).to.deep.equal([true, false, false, false]);
  });

  it("is that the store is down only if an operation failed, and not if a request lost its races", () => {
    const cause = new Error("lost");
    const errors = [
      problem("store_unavailable", "down", { cause }),
      problem("store_unavailable", "races"),
      problem("limiter_unavailable", "Redis", { cause }),
      Object.assign(cause, { code: "store_unavailable", extras: { cause } }),
    ];
    expect(errors.map(isStoreDown)).to.deep.equal([true, false, false, false]);
  });
});

describe("a connection to the store", () => {
  /** Connects, and returns what `read` says of the connection. */
  async function connected<T>(
    options: Partial<Parameters<typeof connectMongo>[0]>,
    read: (mongo: Awaited<ReturnType<typeof connectMongo>>) => T,
  ): Promise<Awaited<T>> {
    const mongo = await connectMongo({ url: testConfig().MONGODB_URL ?? "", timeoutMs: 7_000, ...options });
    try {
      return await read(mongo);
    } finally {
      await mongo.close();
    }
  }

  it("fails with one line that names the address, without the password, if no server is there", async () => {
    const failed = await connectMongo({ url: "mongodb://ann:secret@127.0.0.1:1/pipeline", timeoutMs: 200 }).then(
      () => expect.fail("it connected"),
      (error: Error) => error,
    );
    expect(failed.message).to.equal(
      "MongoDB at mongodb://…@127.0.0.1:1/pipeline cannot be reached: connect ECONNREFUSED 127.0.0.1:1. Check MONGODB_URL.",
    );
  });

  for (const name of ["", "pipeline", "räume"])
    it(`uses the database ${name === "" ? "onboarding if its URL names none" : name}`, async () => {
      const url = withDatabase(testConfig().MONGODB_URL ?? "", name);
      expect(await connected({ url }, ({ db }) => db.databaseName)).to.equal(name === "" ? "onboarding" : name);
    });

  it("has the service's name, and waits no longer than an operation may", async () => {
    const waits = { serverSelectionTimeoutMS: 7_000, connectTimeoutMS: 7_000, waitQueueTimeoutMS: 7_000 };
    const own = { appName: "candidate-onboarding-service", ...waits };
    const options = await connected({}, ({ client }) => client.options);
    expect(options).to.include({ ...own, socketTimeoutMS: 7_000 });
    const patient = await connected({ operationTimeoutMs: 0 }, ({ client }) => client.options);
    expect(patient).to.include({ ...own, socketTimeoutMS: 0 });
  });

  it("counts its operations by name and by how they failed", async () => {
    const metrics = new Metrics();
    await connected({ metrics }, async (mongo) => {
      await mongo.bounded("find things", () => Promise.resolve());
      await mongo.bounded("delete things", () => Promise.reject(new RangeError("far"))).catch(() => undefined);
    });
    const scrape = new Scrape(await metrics.registry.metrics());
    const counted = (db_operation_name: string, error_type: string) =>
      scrape.value("db_client_operation_duration_seconds_count", {
        db_system_name: "mongodb",
        db_operation_name,
        error_type,
      });
    expect([counted("find", ""), counted("delete", "RangeError")]).to.deep.equal([1, 1]);
  });
});
