import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { findMongo } from "../../src/dev/mongo.ts";
import { SetupError } from "../../src/dev/output.ts";
import { findRedis } from "../../src/dev/redis.ts";
import { program, useFolder, usePath } from "./support.ts";

const { signal } = new AbortController();

/** Returns the message of the SetupError that `find` rejects with; it must be one line. */
async function refusal(find: Promise<unknown>): Promise<string> {
  const error: unknown = await find.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(error).to.be.instanceOf(SetupError);
  const { message } = error as SetupError;
  expect(message).to.not.include("\n");
  return message;
}

describe("findRedis", () => {
  const folder = useFolder();
  const setPath = usePath();

  it("returns the redis-server on PATH", async () => {
    const redis = program(join(folder(), "bin/redis-server"), "exit 0");
    setPath(`/nowhere:${dirname(redis)}`);
    expect(await findRedis(folder(), signal)).to.equal(redis);
  });

  it("skips one that does not run, and returns one that was downloaded earlier", async () => {
    setPath(dirname(program(join(folder(), "bin/redis-server"), "exit 127")));
    const downloaded = program(join(folder(), "redis/stable/redis-server"), "exit 0");
    writeFileSync(join(folder(), "redis/path"), downloaded);
    expect(await findRedis(folder(), signal)).to.equal(downloaded);
  });

  it("says what to install or set if there is none", async () => {
    setPath("");
    expect(await refusal(findRedis(folder(), signal)))
      .to.include("install redis-server")
      .and.include("REDIS_URL");
  });
});

describe("findMongo", () => {
  const folder = useFolder();
  const setPath = usePath();

  beforeEach(() => writeFileSync(join(folder(), "mongod-unreachable"), "")); // so that it does not ask the download host

  function installStandin(): void {
    program(join(folder(), "nx-27017-0.8.1/bin/python3"), "exit 0");
    writeFileSync(join(folder(), "nx-27017-0.8.1/installed"), "");
  }

  it("returns the mongod on PATH", async () => {
    const mongod = program(join(folder(), "bin/mongod"), "exit 0");
    setPath(dirname(mongod));
    expect(await findMongo(folder(), signal)).to.include({ name: "mongod", command: mongod });
  });

  it("returns the stand-in if mongod does not run and cannot be downloaded", async () => {
    setPath(dirname(program(join(folder(), "bin/mongod"), "exit 127")));
    installStandin();
    expect(await findMongo(folder(), signal)).to.include({ name: "nx-27017 0.8.1" });
  });

  it("returns the stand-in if the data folder holds its data", async () => {
    setPath(dirname(program(join(folder(), "bin/mongod"), "exit 0")));
    installStandin();
    mkdirSync(join(folder(), "mongo-standin"));
    expect(await findMongo(folder(), signal, folder())).to.include({ name: "nx-27017 0.8.1" });
  });

  it("refuses to use the stand-in on a mongod's data", async () => {
    setPath("");
    installStandin();
    mkdirSync(join(folder(), "mongo"));
    writeFileSync(join(folder(), "mongo/WiredTiger"), "");
    expect(await refusal(findMongo(folder(), signal, folder())))
      .to.include(folder())
      .and.include("there is no mongod");
  });

  it("says what to install or set if there is neither mongod nor a recent python3", async () => {
    setPath(dirname(program(join(folder(), "bin/python3"), "exit 1")));
    expect(await refusal(findMongo(folder(), signal)))
      .to.include("install mongod")
      .and.include("python3")
      .and.include("MONGODB_URL");
  });
});
