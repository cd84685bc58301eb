import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { type AuditRecord, chained } from "../../src/audit/entry.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { eventOf } from "../audit/support.ts";
import { until } from "../erasure/support.ts";
import { useService } from "../support/use-service.ts";
import { adminMain, serversOf } from "./support.ts";

/** Entries of the large export. With `AUDIT_ENTRIES=1000000` it takes six minutes, most of them to write the entries. */
const ENTRIES = Number(process.env.AUDIT_ENTRIES ?? 20_000);
const SAMPLES = 40;
/** Highest resident memory of the second half, by that of the first. A small export is over before V8's heap has its size. */
const MAX_GROWTH = ENTRIES >= 100_000 ? 1.05 : 1.5;

describe("the audit on an operator's terminal", function () {
  this.timeout(ENTRIES * 5);
  const service = useService();
  const env = () => ({ PATH: process.env.PATH, ...serversOf(service.config) });
  const started = async (...args: string[]) =>
    spawn(process.execPath, [await adminMain(), "audit", ...args], { env: env(), stdio: ["ignore", "pipe", "pipe"] });
  const rssOf = (pid: number | undefined) =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;

  it("prints new entries as they appear, until Ctrl-C", async () => {
    const { id } = await service.account();
    const store = new AuditStore(service.operators.mongo, Date);
    const child = await started("tail", "--account", id);
    const [complaint, gone] = [text(child.stderr), once(child, "close")];
    const printed: string[] = [];
    const lines = createInterface({ input: child.stdout });
    lines.on("line", (line) => printed.push((JSON.parse(line) as { id: string }).id));
    const begun = eventOf(id, { details: { reason: "while it starts" } });
    for (; printed.length === 0; await setTimeout(200)) await store.append([{ ...begun, _id: newTypeId("audit") }]);
    const event = eventOf(id);
    await store.append([event]);
    await until(() => printed.includes(event._id));
    child.kill("SIGINT");
    expect(await gone).to.deep.equal([0, null]);
    expect(await complaint).to.equal("");
    expect(new Set(printed).size).to.equal(printed.length);
  });

  it(`exports ${ENTRIES} entries in constant memory`, async () => {
    const collection = service.operators.mongo.db.collection<AuditRecord>("audit");
    await createIndexes(service.operators.mongo.db, [new AuditStore(service.operators.mongo, Date)]);
    const heads = Array.from({ length: 10 }, (): { id: string; head?: AuditRecord } => ({ id: newTypeId("acct") }));
    const from = Date.now() - ENTRIES * 40 - 120_000;
    for (let n = 0; n < ENTRIES;) {
      const batch = Array.from({ length: 1_000 }, () => {
        const account = heads[n % heads.length]!;
        const at = new Date(from + n++ * 40).toISOString();
        account.head = chained(eventOf(account.id, { subject: newTypeId("doc") }), account.head, at);
        return { ...account.head, ms: Date.parse(at) };
      });
      await collection.insertMany(batch);
    }
    const began = performance.now();
    const child = await started("export", "--until", new Date(Date.now() - 60_000).toISOString());
    const [complaint, gone] = [text(child.stderr), once(child, "close")];
    let count = 0;
    let rest = "";
    const samples: number[] = [];
    for await (const chunk of child.stdout) {
      const parts = (rest + String(chunk)).split("\n");
      rest = parts.pop()!;
      count += parts.length;
      if (count / ENTRIES > (samples.length + 1) / SAMPLES) samples.push(rssOf(child.pid));
    }
    expect(await gone, await complaint).to.deep.equal([0, null]);
    expect(count).to.be.at.least(ENTRIES);
    const seconds = ((performance.now() - began) / 1000).toFixed(1);
    const shown = samples.map((mib) => mib.toFixed()).join(", ");
    process.stdout.write(`      ${count} lines in ${seconds} s; resident: ${shown} MiB\n`);
    const middle = samples.length / 2;
    const growth = Math.max(...samples.slice(middle)) / Math.max(...samples.slice(SAMPLES / 10, middle));
    expect(growth).to.be.at.most(MAX_GROWTH);
  });
});
