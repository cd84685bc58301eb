import { expect } from "chai";
import { parse } from "csv-parse/sync";
import type { Candidate } from "../../src/candidates/schema.ts";
import { useService } from "../support/use-service.ts";
import { useImports } from "./imports.ts";

/** What no import takes over: ids, times, and what is derived. */
const TIMES = ["created_at", "updated_at", "requested_at", "received_at"];
const OWN = new Set(["id", "candidate_id", "version", "decided", ...TIMES]);
const comparable = (rows: readonly Candidate[]) =>
  rows
    .map((row) => JSON.stringify(row, (name, each: unknown) => (OWN.has(name) ? undefined : each)))
    .map((json) => json.replaceAll(/(cand|ref|doc)_\w+/g, "$1"))
    .toSorted();

describe("candidates export", function () {
  this.timeout(30_000);
  const service = useService();
  const { put, fileOf, exported, rowsOf, auditOf } = useImports(service);

  it("exports what import reads: as NDJSON candidates are equal, as CSV their columns are, and no cell is a formula", async () => {
    const [from, viaLines, viaCsv] = await Promise.all([service.account(), service.account(), service.account()]);
    const people = [
      {
        external_id: "=HYPERLINK(1)",
        name: "'Ada",
        phone: "+14155550123",
        job_title: "-",
        metadata: { "@x": "\t", plain: 'O\'Brien, "Ada"', quoted: "''", empty: "" },
        outreach_enabled: false,
        docs_chase_attempts: 0,
        withdrawn: true,
        withdrawal_reason: "+1",
        documents: [
          "a;b\\c",
          { name: "=Visa", state: "accepted", required: false, expires_on: "2999-01-01", metadata: { a: "b" } },
          {
            name: "Photo",
            state: "rejected",
            rejection_reason: "blurred",
            chase: { attempts: 2, last_at: "2026-01-01T00:00:00.000Z" },
          },
        ],
        references: [
          {
            name: "@Jo",
            email: "jo@example.com",
            state: "received",
            response: { ok: [null, 1] },
            metadata: { a: "b" },
          },
          { name: "Kim", state: "declined", chase: { attempts: 1 } },
        ],
      },
      {
        name: "Bo",
        documents: ["Passport"],
        references: [{ name: "Li" }],
        metadata: Object.fromEntries([
          ["constructor", "x"],
          ["toString", "y"],
        ]),
      },
      {},
    ];
    await put(await fileOf("from.ndjson", people.map((each) => JSON.stringify(each)).join("\n")), from);
    expect(await rowsOf(from)).to.have.length(3);
    const lines = await exported(from, "ndjson");
    const csv = await exported(from, "csv");
    for (const cell of parse(csv).slice(1).flat()) expect(cell).to.not.match(/^[=+\-@\t\r]|native code/);
    await put(await fileOf("to.ndjson", lines), viaLines);
    expect(comparable(await rowsOf(viaLines))).to.deep.equal(comparable(await rowsOf(from)));
    await put(await fileOf("to.csv", csv), viaCsv);
    expect((await exported(viaCsv, "csv")).split("\n").toSorted()).to.deep.equal(csv.split("\n").toSorted());
    const ada = (await rowsOf(viaCsv)).find(({ withdrawn }) => withdrawn);
    expect(ada).to.deep.include({
      external_id: "=HYPERLINK(1)",
      name: "'Ada",
      phone: "+14155550123",
      withdrawal_reason: "+1",
    });
    expect(ada?.documents.map(({ name }) => name)).to.deep.equal(["a;b\\c", "=Visa", "Photo"]);
    expect((await auditOf(from)).find(({ action }) => action === "candidates export")).to.deep.include({
      actor: "ann",
      outcome: "done",
      details: { format: "csv" },
    });
  });

  it("exports a started candidate as one that can be imported, and no erased one", async () => {
    const [from, to] = await Promise.all([service.account(), service.account()]);
    await put(await fileOf("start.csv", "external_id,documents,reference1.name\na,Visa,Jo\nb,,\n"), from);
    await from.client.post("/candidates/external:a/start");
    await from.client.patch("/candidates/external:a", { hold: { reason: "it stays where it is" } });
    await from.client.patch("/settings/retention", { erase_after_days: { inactive: 9 } });
    await from.client.request("DELETE", "/candidates/external:b");
    const file = await fileOf("started.ndjson", await exported(from, "ndjson"));
    expect(await put(file, to)).to.include({ rows: 1, created: 1, failed: 0 });
    expect((await rowsOf(to))[0]).to.deep.include({ state: "created", started_at: null, hold: null });
    await to.client.request("DELETE", "/candidates/external:a");
    expect(await put(file, to)).to.include({ created: 0, failed: 1 }); // an import brings nobody back
  });
});
