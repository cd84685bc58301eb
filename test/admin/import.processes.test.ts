import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { parse } from "csv-parse/sync";
import { runCommand } from "../../src/admin/run.ts";
import { useService } from "../support/use-service.ts";
import { useImports } from "./imports.ts";
import { admin, adminMain, adminProcess, answerOf, complaintOf, mistakeOf } from "./support.ts";

const ROWS = 2_000;

describe("candidates import", function () {
  this.timeout(120_000); // some commands are processes, and write thousands of rows
  const service = useService();
  const { env, pathOf, command, fileOf, put, rowsOf, auditOf } = useImports(service);

  it("creates each row as POST does, uncharged and audited, and mails nobody", async () => {
    const account = await service.account();
    const file = await fileOf(
      "people.csv",
      `\uFEFFexternal_id,name,email,phone,start_date,references_required,withdrawn,metadata.site,documents,reference2.name,reference2.email
007, Ada Okafor ,ada@example.com,+1 (415) 555-0123,2026-08-17T00:00:00,2,,Berlin,Passport;Visa \\; work,Jo,jo@example.com
,"Bo
Li",,,,,TRUE,,,,,,
,,,,,,,,,,
`,
    );
    expect(await put(file, account)).to.deep.equal({
      object: "import",
      rows: 2,
      created: 2,
      updated: 0,
      unchanged: 0,
      failed: 0,
      refused_file: null,
    });
    expect(existsSync(pathOf("people.refused.csv"))).to.equal(false);
    const [bo, ada] = (await rowsOf(account)).toSorted((one) => (one.external_id === null ? -1 : 1));
    expect(ada).to.deep.include({ external_id: "007", name: "Ada Okafor", phone: "+14155550123", withdrawn: false });
    expect(ada).to.deep.include({ start_date: "2026-08-17", references_required: 2, metadata: { site: "Berlin" } });
    expect(ada?.documents.map(({ name }) => name)).to.deep.equal(["Passport", "Visa ; work"]);
    expect(ada?.references.map(({ name, email }) => [name, email])).to.deep.equal([["Jo", "jo@example.com"]]);
    expect(bo).to.deep.include({ name: "Bo\nLi", external_id: null, withdrawn: true });
    expect([ada?.outreach_enabled, bo?.outreach_enabled]).to.deep.equal([false, false]);
    const started = await account.client.post("/candidates/external:007/start");
    expect(started.body).to.deep.include({ outreach: { next_at: null, reason: "disabled" } });
    expect(await account.used()).to.deep.equal({ list: 1, start: 1 });
    const [ended, begun] = await auditOf(account);
    const counts = { rows: 2, created: 2, updated: 0, unchanged: 0, failed: 0 };
    expect(begun).to.deep.include({
      action: "candidates import",
      actor: "ann",
      subject: "people.csv",
      outcome: "done",
    });
    expect(begun).to.deep.include({ details: { on_conflict: "refuse", outreach: false } });
    expect(ended).to.deep.include({ action: "candidates imported", actor: "ann", details: counts });
  });

  it("puts refused rows into a file with the reason, which is imported again once it is corrected", async () => {
    const account = await service.account();
    const file = await fileOf(
      "mixed.csv",
      "external_id,email,references_required,metadata.note\na,ada@example.com,,'=1\nb,not an address,many,=1\na,,,\nc,,,,more\nd,\n",
    );
    const rehearsed = { rows: 5, created: 1, updated: 0, unchanged: 0, failed: 4 };
    const refused_file = pathOf("mixed.refused.csv");
    expect(await put(file, account, "--dry-run")).to.deep.equal({ object: "dry_run", ...rehearsed, refused_file });
    expect(await rowsOf(account)).to.deep.equal([]);
    expect(await auditOf(account)).to.deep.equal([]);
    expect(await put(file, account)).to.deep.equal({ object: "import", ...rehearsed, refused_file });
    const refused = await readFile(refused_file, "utf8");
    const [header, b, again, c, d] = parse(refused, { relax_column_count: true });
    expect(header).to.deep.equal(["external_id", "email", "references_required", "metadata.note", "row", "reason"]);
    expect(b?.slice(0, 5)).to.deep.equal(["b", "not an address", "many", "'=1", "3"]);
    expect(b?.[5]).to.match(/\/email must be one email address.*\/references_required must be an integer/);
    expect([again?.[4], c?.[4], c?.[6], d?.[4]]).to.deep.equal(["4", "5", "more", "6"]);
    expect(c?.[5]).to.equal("/row must have 4 cells and has 5: put a cell with a comma into quotes.");
    expect(d?.[5]).to.include("has 2:");
    expect(again?.[5]).to.include("already has this external_id");
    expect(await put(file, account), "once more").to.include({ created: 0, unchanged: 1, failed: 4 });
    expect(await readFile(`${refused_file}~`, "utf8"), "what somebody may have corrected").to.equal(refused);
    const corrected = refused
      .replace("not an address", "b@example.com")
      .replace("many", "2")
      .replace(/^(c,.*),more$/m, "$1")
      .replace(/\na,.*\n/, "\n");
    expect(await put(await fileOf("mixed.refused.csv", corrected), account)).to.include({ created: 3, failed: 0 });
    const notes = (await rowsOf(account)).map(({ external_id, metadata }) => [external_id, metadata["note"]]);
    expect(Object.fromEntries(notes)).to.deep.equal({ a: "=1", b: "=1", c: undefined, d: undefined });
  });

  it("takes NDJSON, and a line that is not JSON is refused alone", async () => {
    const account = await service.account();
    const lines = [
      '{"name":"Ada","documents":[{"name":"Visa","state":"accepted"}]}',
      "{oops",
      "",
      '{"name":"Bo\u2028"}',
    ];
    const file = await fileOf("people.ndjson", lines.join("\r\n"));
    expect(await put(file, account)).to.include({ rows: 3, created: 2, failed: 1 });
    const refusedLines = await readFile(pathOf("people.refused.csv"), "utf8");
    const [, refused] = parse(refusedLines);
    expect(refused?.slice(0, 2)).to.deep.equal(["{oops", "2"]);
    expect(refused?.[2]).to.include("The entry is not JSON");
    const ada = (await rowsOf(account)).find(({ name }) => name === "Ada");
    expect(ada?.documents[0]).to.include({ state: "accepted" });
    const corrected = await fileOf("people.refused.csv", refusedLines.replace("{oops", '"{""name"":""Cy""}"'));
    expect(await put(corrected, account)).to.include({ rows: 1, created: 1, failed: 0 });
  });

  it("creates nothing twice after kill -9, and nothing is missing", async () => {
    const account = await service.account();
    const line = (n: number) => `${n % 2 ? "" : `id-${n}`},Person ${n % 1_500},Passport`;
    const rows = Array.from({ length: ROWS }, (_, n) => line(n));
    const file = await fileOf("many.csv", ["external_id,name,documents", ...rows].join("\n"));
    const started = async () => {
      const args = [await adminMain(), ...command(file, account)];
      return spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...env() } });
    };
    const candidates = service.operators.mongo.db.collection("candidates");
    const written = () => candidates.countDocuments({ account: account.id });
    for (const [signal, enough] of [
      ["SIGKILL", 200],
      ["SIGINT", 800],
    ] as const) {
      const child = await started();
      const complaint = text(child.stderr);
      while ((await written()) < enough) expect(child.exitCode).to.equal(null);
      child.kill(signal);
      const [code] = (await once(child, "close")) as [number | null];
      expect(await written()).to.be.lessThan(ROWS);
      if (signal === "SIGINT")
        expect([code, await complaint]).to.deep.equal([
          1,
          (await complaint).match(/^Stopped after \d+ rows\. To go on, run the same command again.*\n$/)?.[0],
        ]);
    }
    const result = await put(file, account);
    expect(result).to.include({ rows: ROWS, failed: 0 });
    expect(result["unchanged"]).to.be.within(800, ROWS - 1);
    const names = (await rowsOf(account)).map(({ external_id, name }) => `${external_id ?? ""},${name},Passport`);
    expect(names.toSorted()).to.deep.equal(rows.toSorted());
    const inserted = rows.toSpliced(1, 0, "new,Somebody,");
    await fileOf("many.csv", ["external_id,name,documents", ...inserted].join("\n"));
    expect(await put(file, account)).to.include({ created: 1, unchanged: ROWS, failed: 0 });
    const outcomes = (await auditOf(account)).filter(({ action }) => action === "candidates import");
    expect(outcomes.map(({ outcome }) => outcome)).to.deep.equal(["done", "done", "failed", "unknown"]);
    expect(outcomes[2]).to.include({ reason: "Interrupted by the operator" });
  });

  it("refuses the rows that an earlier run without --no-outreach has created, and leaves them to an update", async () => {
    const account = await service.account();
    const file = await fileOf("loud.csv", "external_id,name,outreach_enabled\na,Ada,\nb,Bo,false\n");
    const quiet: typeof admin = async (...args) => ({ ...(await admin(...args)), stderr: "" });
    await answerOf(["candidates", "import", file, "--account", account.id], env(), quiet);
    expect(await put(file, account)).to.include({ created: 0, unchanged: 1, failed: 1 });
    const [, row] = parse(await readFile(pathOf("loud.refused.csv"), "utf8"));
    expect(row?.[4]).to.match(/^\/outreach_enabled is true for cand_\w+ of an earlier run/);
    const refused = await fileOf("again.csv", await readFile(pathOf("loud.refused.csv"), "utf8"));
    expect(await put(refused, account, "--on-conflict", "update")).to.include({ updated: 1, failed: 0 });
    expect((await rowsOf(account)).map((each) => each.outreach_enabled)).to.deep.equal([false, false]);
  });

  it("shows in a terminal how far it is", async () => {
    const account = await service.account();
    const file = await fileOf("shown.ndjson", '{"name":"Ada"}\n'.repeat(150));
    const [stdin, stdout, stderr] = [Readable.from([]), new PassThrough(), new PassThrough()];
    const context = { env: env(), stdin, stdout, stderr: Object.assign(stderr, { isTTY: true }) };
    expect(await runCommand(command(file, account), context)).to.equal(0);
    expect(String(stderr.read())).to.match(/^\r100 rows, \d+ a second, 0 min to go  \r150 rows, \d+ .*\n$/);
    expect(await rowsOf(account)).to.have.length(150); // equal rows are people of the same name
  });

  it("brings candidates in line with --on-conflict update, and leaves the fields of empty cells", async () => {
    const account = await service.account();
    const file = await fileOf("sync.csv", "external_id,name,email,outreach_enabled\na,Ada,ada@example.com,\nb,Bo,,\n");
    await put(file, account);
    const update = (content: string) =>
      fileOf("sync.csv", content).then((each) =>
        answerOf(["candidates", "import", each, "--account", account.id, "--on-conflict", "update"], env(), quiet),
      );
    const quiet: typeof admin = async (...args) => ({ ...(await admin(...args)), stderr: "" });
    const changed = "external_id,name,email,outreach_enabled\na,Ada Okafor,,\nb,Bo,,\n,Nobody,,\n";
    expect(await update(changed)).to.include({ created: 0, updated: 1, unchanged: 1, failed: 1 });
    expect(await update(changed)).to.include({ updated: 0, unchanged: 2, failed: 1 });
    const [b, a] = await rowsOf(account);
    expect(a).to.include({ name: "Ada Okafor", email: "ada@example.com", outreach_enabled: false });
    expect(b).to.include({ version: 1, outreach_enabled: false });
    expect(await update("external_id,name\na,Ada\n")).to.include({ updated: 1 });
  });

  it("refuses a file that it cannot read in one line, before it changes anything", async () => {
    const account = await service.account();
    const complaint = async (name: string, content: string | Uint8Array) =>
      complaintOf(command(await fileOf(name, content), account), env());
    expect(await complaint("x.csv", "name,emial\nAda,a@example.com\n")).to.match(
      /unknown column 'emial'.*Did you mean email\?/,
    );
    expect(await complaint("x.csv", "name,reference2.emial\n")).to.include("Did you mean reference2.email?");
    expect(await complaint("x.csv", "name,shoe size\n")).to.include("call it metadata.shoe size");
    expect(await complaint("x.csv", "name;email\n")).to.include("Separate the columns by commas");
    expect(await complaint("x.csv", "name,name\n")).to.include("'name' twice");
    expect(await complaint("x.csv", "")).to.include("is empty");
    expect(await complaint("x.csv", Buffer.from("name\nJosé\n", "latin1"))).to.include("not valid for encoding utf-8");
    expect(await complaint("x.csv", 'name\nAda\n"Bo\n')).to.match(/^Stopped after 0 rows.*Quote Not Closed/);
    expect(await mistakeOf(command(await fileOf("x.txt", ""), account), env())).to.include(".csv or .ndjson");
    expect(await complaintOf(command(pathOf("none.csv"), account), env())).to.include("no such file");
    const file = await fileOf("x.csv", "name\nAda\n");
    expect(await complaintOf(command(file, { id: "acct_nobody" }), env())).to.equal(
      "No account has the id acct_nobody.",
    );
    const unnamed = { ...env(), ADMIN_ACTOR: "", ADMIN_ACTOR_REQUIRED: "true" };
    expect(await mistakeOf(command(file, account), unnamed)).to.include("ADMIN_ACTOR");
    const rehearsal = await adminProcess([...command(file, account), "--dry-run"], unnamed);
    expect(rehearsal.code, "a dry run changes nothing, and needs no name").to.equal(0);
    expect(await rowsOf(account)).to.deep.equal([]);
  });

  it("says who will be mailed, and needs no more memory for more rows", async () => {
    const account = await service.account();
    const rows = Array.from({ length: 6_000 }, (_, n) => `${n},${"x".repeat(500)},${"y".repeat(500)}`);
    const file = await fileOf("large.csv", ["external_id,metadata.a,metadata.b", ...rows, ""].join("\n"));
    const small = { ...env(), NODE_OPTIONS: "--max-old-space-size=80" };
    const { code, stdout, stderr } = await adminProcess(["candidates", "import", file, "--account", account.id], small);
    expect({ code, stderr }).to.deep.equal({
      code: 0,
      stderr: "Whoever is started later is mailed, and so are the referees. To mail nobody, add --no-outreach.\n",
    });
    expect(JSON.parse(stdout)).to.include({ created: 6_000 });
    const args = [await adminMain(), "candidates", "export", "--account", account.id, "--format", "csv"];
    const child = spawn(process.execPath, args, { env: { PATH: process.env.PATH, ...small } });
    let bytes = 0;
    child.stdout.on("data", (chunk: Buffer) => (bytes += chunk.length));
    expect([await once(child, "close"), bytes > 6_000_000]).to.deep.equal([[0, null], true]);
  });
});
