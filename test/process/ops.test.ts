import { expect } from "chai";
import { type OpsSource, serveOps } from "../../src/process/ops.ts";

describe("The port for operators", () => {
  let faults: string[] = [];
  let shared: string[] = [];
  const source: OpsSource = {
    faults: (deep) => Promise.resolve(deep ? [...faults, ...shared] : faults),
    metrics: () => Promise.resolve("up 1\n"),
  };
  let ops: Awaited<ReturnType<typeof serveOps>>;
  before(async () => {
    ops = await serveOps(source, 0, "127.0.0.1");
  });
  after(() => ops.close());
  beforeEach(() => {
    faults = shared = [];
  });

  async function responseTo(path: string) {
    const response = await fetch(`http://127.0.0.1:${ops.port}${path}`);
    const header = (name: string) => response.headers.get(name);
    return [response.status, header("content-type"), header("cache-control"), await response.text()];
  }
  const ok = [200, "application/json", "no-store", '{"ok":true,"faults":[]}'];

  it("says that the process lives, whatever is wrong", async () => {
    faults = ["redis does not answer"];
    expect(await responseTo("/livez")).to.deep.equal(ok);
  });

  it("says whether it is ready, and otherwise why not", async () => {
    expect(await responseTo("/readyz")).to.deep.equal(ok);
    faults = ["starting"];
    const body = JSON.stringify({ ok: false, faults });
    expect(await responseTo("/readyz")).to.deep.equal([503, "application/json", "no-store", body]);
  });

  it("says what all processes share only if it is asked to look deeper", async () => {
    shared = ["redis does not answer", "mongodb does not answer"];
    const body = JSON.stringify({ ok: false, faults: shared });
    expect(await responseTo("/readyz?deep=1")).to.deep.equal([503, "application/json", "no-store", body]);
    for (const path of ["/readyz", "/readyz?deep", "/readyz?deep=0", "/readyz?verbose"])
      expect(await responseTo(path), path).to.deep.equal(ok);
  });

  it("gives the metrics as Prometheus's text", async () => {
    expect(await responseTo("/metrics")).to.deep.equal([
      200,
      "text/plain; version=0.0.4; charset=utf-8",
      null,
      "up 1\n",
    ]);
  });

  it("ignores a query", async () => {
    expect(await responseTo("/livez?verbose")).to.deep.equal(ok);
    expect((await responseTo("/metrics?a=1"))[0]).to.equal(200);
  });

  for (const path of ["/", "/livez/", "/healthz", "/metrics2"])
    it(`has nothing at ${path}`, async () => {
      expect(await responseTo(path)).to.deep.equal([404, null, null, ""]);
    });

  it("is closed at once, also for connections that are open", async () => {
    const other = await serveOps(source, 0, "127.0.0.1");
    const url = `http://127.0.0.1:${other.port}/livez`;
    expect((await fetch(url)).status).to.equal(200);
    other.close();
    const failure = await fetch(url).catch((error: unknown) => error);
    expect(failure).to.be.an.instanceOf(TypeError);
  });
});
