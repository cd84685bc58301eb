import { Session } from "node:inspector/promises";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { useAccount, useOwnService } from "../support/use-service.ts";

/** Maximum number of files of src/ that a create runs. Who reads the path of a request reads these. */
const MAX_FILES = 50;

describe("POST /candidates", () => {
  const service = useOwnService();
  const { client } = useAccount(service);
  const inspector = new Session();

  before(async () => {
    inspector.connect();
    await inspector.post("Profiler.enable");
    await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  });
  after(async () => {
    await inspector.post("Profiler.stopPreciseCoverage");
    inspector.disconnect();
  });

  /** Returns the files of src/ in which a function was called during the work, by V8's coverage. */
  async function filesOf(work: () => Promise<unknown>): Promise<Set<string>> {
    await inspector.post("Profiler.takePreciseCoverage");
    await work();
    const { result } = await inspector.post("Profiler.takePreciseCoverage");
    const called = result.filter(({ functions }) =>
      functions.some(({ ranges }) => ranges.some(({ count }) => count > 0)),
    );
    return new Set(called.flatMap(({ url }) => /\/(src\/[^?]+\.ts)/.exec(url)?.[1] ?? []));
  }

  it(`runs at most ${MAX_FILES} files that an idle process does not run`, async () => {
    const create = async () => expect((await client.post("/candidates", { name: "Ada" })).status).to.equal(201);
    for (let n = 0; n < 3; n++) await create();
    let idle: Set<string>;
    do idle = await filesOf(() => setTimeout(6_000));
    while (idle.has("src/infra/lazy.ts")); // it still makes what later requests need
    const created = () => create().then(() => setTimeout(500));
    const runs = [await filesOf(created), await filesOf(created), await filesOf(created)];
    const always = [...runs[0]!].filter((file) => runs.every((files) => files.has(file)) && !idle.has(file));
    expect(always, always.join("\n")).to.have.length.at.most(MAX_FILES);
  });
});
