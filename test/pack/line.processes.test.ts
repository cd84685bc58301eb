import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { TYPESETTING } from "../../src/pack/typeset.ts";
import type { Client } from "../support/client.ts";
import { useService } from "../support/use-service.ts";
import { download } from "./support.ts";

describe("packs that wait to be typeset", function () {
  this.timeout(120_000);
  const service = useService({ LIMIT_SCALE: 100 });
  const usual = { ...TYPESETTING };
  let started: string;

  /** Puts a program in place that adds its id to the file `started`, then does nothing at all. */
  beforeEach(async () => {
    const folder = await mkdtemp(join(tmpdir(), "hung-"));
    started = join(folder, "started");
    const program = join(folder, "hung.mjs");
    await writeFile(started, "");
    await writeFile(
      program,
      `import { appendFileSync } from "node:fs";
      appendFileSync(${JSON.stringify(started)}, process.pid + "\\n");
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);`,
    );
    TYPESETTING.program = pathToFileURL(program);
  });
  afterEach(() => Object.assign(TYPESETTING, usual));

  const programs = async () => (await readFile(started, "utf8")).split("\n").slice(0, -1).map(Number);

  async function firstProgram(): Promise<number> {
    for (;;) {
      const [pid] = await programs();
      if (pid !== undefined) return pid;
      await sleep(20);
    }
  }

  async function ended(pid: number): Promise<void> {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      await sleep(20);
    }
  }

  /** Returns a client with a candidate. `ask` asks for the pack; `leave` closes all connections of those requests. */
  async function reader() {
    const { client } = await service.account();
    const { id } = (await client.post("/candidates", { name: "Ann" })).body;
    const connections = new AbortController();
    const ask = async () => {
      const response = await fetch(`${client.url}/candidates/${id}/pack?format=pdf`, {
        headers: { Authorization: `Bearer ${client.key}` },
        signal: connections.signal,
      });
      const { code, detail } = (await response.json()) as { code?: string; detail?: string };
      return { status: response.status, retryAfter: response.headers.get("retry-after"), code, detail };
    };
    /** Asks so often that one is refused. Returns that answer; the others wait. */
    const askUntilRefused = (times: number) => {
      const asked = Array.from({ length: times }, ask);
      for (const answer of asked) answer.catch(() => undefined);
      return Promise.race(asked);
    };
    return { client, id, ask, askUntilRefused, leave: () => connections.abort() };
  }

  async function expectServed({ client, id }: { client: Client; id: string }): Promise<void> {
    Object.assign(TYPESETTING, usual, { deadlineMs: 60_000 });
    const { status, bytes } = await download(client, `/candidates/${id}/pack?format=pdf`);
    expect(status).to.equal(200);
    expect(Buffer.from(bytes.subarray(0, 5)).toString()).to.equal("%PDF-");
  }

  it("ends a program that hangs, answers 503 with Retry-After, and serves the next pack", async () => {
    TYPESETTING.deadlineMs = 3000;
    const ann = await reader();
    const answer = await ann.ask();
    expect(answer).to.include({ status: 503, code: "pack_unavailable", retryAfter: "5" });
    for (const pid of await programs()) await ended(pid);
    expect(service.log.some(({ error }) => JSON.stringify(error ?? "").includes("program that typesets"))).to.equal(
      true,
    );
    await expectServed(ann);
  });

  it("refuses a pack when all places of the account or of the replica are taken", async () => {
    Object.assign(TYPESETTING, { places: 3, placesPerAccount: 2 });
    const [ann, bob] = await Promise.all([reader(), reader()]);
    const third = await ann.askUntilRefused(3);
    expect(third).to.include({ status: 503, code: "pack_unavailable", retryAfter: "5" });
    expect(third.detail).to.contain("2 packs of this account");
    const fourth = await bob.askUntilRefused(2);
    expect(fourth).to.include({ status: 503, code: "pack_unavailable", retryAfter: "5" });
    expect(fourth.detail).to.contain("Too many packs");
    ann.leave();
    bob.leave();
    await expectServed(ann);
  });

  it("never typesets for a client that left while it waited, and ends the program of one that left later", async () => {
    Object.assign(TYPESETTING, { placesPerAccount: 1, deadlineMs: 600_000 });
    const [ann, bob] = await Promise.all([reader(), reader()]);
    ann.ask().catch(() => undefined);
    // More packs can be typeset at once on machines with more cores.
    const second = await reader();
    second.ask().catch(() => undefined);
    const pid = await firstProgram();
    await bob.askUntilRefused(2); // so one of them waits
    bob.leave();
    ann.leave();
    second.leave();
    await ended(pid);
    await expectServed(bob);
    expect((await programs()).length).to.be.at.most(2);
  });

  it("refuses a pack that waits too long", async () => {
    const readers = await Promise.all([reader(), reader()]);
    for (const { ask } of readers) ask().catch(() => undefined);
    await firstProgram();
    TYPESETTING.waitMs = 500;
    const late = await reader();
    const answer = await late.askUntilRefused(2);
    expect(answer).to.include({ status: 503, code: "pack_unavailable", retryAfter: "5" });
    expect(answer.detail).to.contain("waited too long");
    for (const { leave } of [...readers, late]) leave();
    await expectServed(late);
  });
});
