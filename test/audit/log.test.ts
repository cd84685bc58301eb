import { expect } from "chai";
import type { AuditRecord } from "../../src/audit/entry.ts";
import { auditLog } from "../../src/audit/log.ts";
import { AuditStore } from "../../src/audit/store.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { createLog, linesIn } from "../../src/infra/log.ts";
import { useAccounts } from "../accounts/support.ts";
import { useOwnService } from "../support/use-service.ts";
import { eventOf } from "./support.ts";

interface Line {
  readonly metadata: { readonly uid: string };
}

describe("the audit in the log", () => {
  const accounts = useAccounts();
  let now = Date.parse("2026-11-21T10:00:00Z");
  const clock = { now: () => (now += 1) };
  const { signal } = new AbortController();
  const open = () => new AuditStore(accounts.mongo, clock);

  /** Runs the sweep once. Returns the lines. */
  async function swept(store: AuditStore, destination?: { write(line: string): void }): Promise<Line[]> {
    const lines: Line[] = [];
    const output = destination ?? { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
    await auditLog(store, { clock, lagMs: 0, lines: linesIn(createLog("silent", output)) })(signal);
    return lines;
  }

  it("begins with the present, and has each entry once, whatever LOG_LEVEL is", async () => {
    const [account, store] = [newTypeId("acct"), open()];
    await store.append([eventOf(account)]);
    expect(await swept(store), "the first pass ever").to.deep.equal([]);
    const events = Array.from({ length: 1_200 }, () => eventOf(account));
    await store.append(events);
    const lines = await swept(open());
    expect(lines.map(({ metadata }) => metadata.uid)).to.deep.equal(events.map(({ _id }) => _id));
    expect(await swept(open())).to.deep.equal([]);
  });

  it("names its fields as OCSF does", async () => {
    const [account, store] = [newTypeId("acct"), open()];
    const begun = eventOf(account, { action: "keys create", outcome: null });
    const ended = eventOf(account, { action: "keys create", of: begun._id, outcome: "failed", reason: "Down." });
    const read = eventOf(account, { action: "document.read", subject: "doc_1", details: { candidate: "cand_1" } });
    const erased = eventOf(account, { action: "candidates delete", subject: "cand_1" });
    await store.append([begun, ended, read, erased, eventOf(account)]);
    const records = await accounts.mongo.db
      .collection<AuditRecord>("audit")
      .find({ account })
      .sort({ seq: 1 })
      .toArray();
    const lines = (await swept(store)) as (Line & Record<string, unknown>)[];
    const { at, previous, hash } = records[1]!;
    expect(lines[1]!.metadata).to.have.property("logged_time").that.is.above(Date.parse(at));
    expect(lines[1]).to.deep.equal({
      audit: true,
      time: Date.parse(at),
      category_uid: 6,
      class_uid: 6003,
      activity_id: 1,
      activity_name: "Create",
      type_uid: 600301,
      severity_id: 1,
      status_id: 2,
      status: "Failure",
      status_detail: "Down.",
      metadata: {
        ...lines[1]!.metadata,
        version: "1.3.0",
        uid: ended._id,
        correlation_uid: begun._id,
        sequence: 2,
        tenant_uid: account,
      },
      actor: { user: { uid: "ann" } },
      api: { operation: "keys create" },
      resources: [{ uid: "key_1" }],
      unmapped: { details: { reason: "leaked" }, previous, hash },
    });
    const kinds = lines.map(({ activity_name, status }) => [activity_name, status].join(" "));
    expect(kinds).to.deep.equal([
      "Create Unknown",
      "Create Failure",
      "Read Success",
      "Delete Success",
      "Update Success",
    ]);
  });

  it("has an entry again if it could not note that it is there", async () => {
    const [account, store] = [newTypeId("acct"), open()];
    const event = eventOf(account);
    await store.append([event]);
    store.setLogged = () => Promise.reject(new Error("Down."));
    const lines: string[] = [];
    const failure = await swept(store, { write: (line) => void lines.push(line) }).catch(String);
    expect([failure, lines.length]).to.deep.equal(["Error: Down.", 1]);
    expect((await swept(open())).map(({ metadata }) => metadata.uid)).to.deep.equal([event._id]);
  });
});

describe("AUDIT_LOG=stdout", () => {
  const service = useOwnService({ AUDIT_LOG: "stdout" });

  it("adds a sweep", async () => {
    const metrics = await (await fetch(`${service.opsUrl}/metrics`)).text();
    expect(metrics).to.match(/sweep_runs_total\{sweep="audit_log",outcome="ok"\} \d/);
  });
});
