import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { adminMain, adminProcess, serversOf } from "../admin/support.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { until } from "./support.ts";

const PEOPLE = 800;

describe("accounts erase, interrupted", function () {
  this.timeout(120_000); // it waits for requests that have begun
  const service = useService({ LIMIT_SCALE: 1_000 });
  const account = useAccount(service);
  const env = () => ({
    ...serversOf(service.config),
    BODY_TIMEOUT_MS: "100",
    STORE_TIMEOUT_MS: "1000",
    ADMIN_ACTOR: "ann",
  });
  const command = () => ["accounts", "erase", account.id, "--yes"];
  const living = () => {
    const candidates = service.operators.mongo.db.collection("candidates");
    return candidates
      .find(
        { account: account.id, $or: [{ state: { $ne: "deleted" } }, { "erasure.at": { $gt: "" } }] },
        { projection: { _id: 1 } },
      )
      .toArray();
  };

  /** Runs the command until it has erased some more people, then ends it. */
  async function interrupted(signal: NodeJS.Signals) {
    const before = (await living()).length;
    const child = spawn(process.execPath, [await adminMain(), ...command()], {
      env: { PATH: process.env.PATH, ...env() },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const exit = once(child, "exit");
    const stderr = text(child.stderr);
    await until(async () => (await living()).length < before);
    child.kill(signal);
    const [code] = (await exit) as [number | null];
    expect(await living()).to.have.length.within(1, before);
    return { code, stderr: await stderr };
  }

  it("goes on when it is run again, after a crash and after Ctrl-C", async () => {
    for (let n = 0; n < PEOPLE; n += 100) {
      const people = Array.from({ length: 100 }, () => ({ references: [{ name: "Ann" }] }));
      await account.client.post("/candidates/bulk?count=100", { candidates: people });
    }
    await interrupted("SIGKILL");
    expect((await account.client.get("/candidates")).status, "it is suspended").to.equal(403);
    const stopped = await interrupted("SIGINT");
    expect(stopped).to.deep.equal({ code: 1, stderr: "Stopped. To go on, run the same command again\n" });
    const left = (await living()).length;
    const { code, stdout } = await adminProcess(command(), env());
    expect(code).to.equal(0);
    const AT_ONCE = 4; // the sweep of the service may have finished what the command had begun
    expect((JSON.parse(stdout) as { erased: number }).erased).to.be.within(left - AT_ONCE, left);
    expect(await living()).to.deep.equal([]);
    const { db } = service.operators.mongo;
    for (const name of ["reference_index", "secrets"])
      expect(await db.collection(name).find({ account: account.id }).toArray(), name).to.deep.equal([]);
    expect(
      await db
        .collection("candidates")
        .find({ "erasure.at": { $gt: "" } })
        .toArray(),
    ).to.deep.equal([]);
    const { data } = await service.operators.audit.list(1_000, account.id);
    const outcomes = data.filter(({ action }) => action === "accounts erase").map(({ outcome }) => outcome);
    expect(outcomes.toReversed()).to.deep.equal(["unknown", "failed", "done"]);
  });
});
