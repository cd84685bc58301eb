import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";
import { runProgram } from "./installed.ts";

const EXAMPLES = "src/docs/examples";
const run = promisify(execFile);

/** Pushes these rows once, and returns what the program prints. */
type Push = (rows: readonly Row[]) => Promise<string>;
interface Row {
  readonly external_id: string;
  readonly name: string;
  readonly email: string;
  readonly phone: string;
  readonly start_date: string;
  readonly documents: string;
  readonly referee_name: string;
  readonly referee_email: string;
}

describe("the examples of pushing a pipeline", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const NOBODY = { email: "", phone: "", start_date: "", documents: "", referee_name: "", referee_email: "" };
  const NOBODY_AT_ALL = { ...NOBODY, external_id: "", name: "Nobody" };
  const ADA = {
    external_id: "ats-1",
    name: " Ada ",
    email: "ada@example.com",
    phone: "+1 (415) 555-0123",
    start_date: "2027-01-10T00:00:00Z",
    documents: "Passport;CV",
    referee_name: "Jo",
    referee_email: "jo@example.com",
  };
  const GRACE = { ...NOBODY, external_id: "ats-2", name: "Grace", phone: "020 7946 0958" };

  const feed = async () => (await client.get("/candidates?limit=1000")).body.data;
  const versions = async () => (await feed()).map(({ external_id, version }) => `${external_id} ${version}`);

  /** Expects that the service follows the rows, and that rows that stay the same are no row of the feed. */
  async function pushes(push: Push): Promise<void> {
    await push([ADA, GRACE]);
    const [ada, grace] = await Promise.all(
      ["ats-1", "ats-2"].map(async (name) => (await client.get(`/candidates/external:${name}`)).body),
    );
    expect(ada).to.deep.include({
      name: "Ada",
      phone: "+14155550123",
      start_date: "2027-01-10",
      outreach_enabled: false,
    });
    expect(ada!.documents.map(({ name }) => name)).to.deep.equal(["Passport", "CV"]);
    expect(ada!.references.map(({ email }) => email)).to.deep.equal(["jo@example.com"]);
    expect(grace).to.deep.include({ phone: null, metadata: { "unreadable.phone": "020 7946 0958" } });
    const { create: first } = await account.used();
    expect(first).to.equal(2);

    await push([ADA, GRACE]);
    expect(await versions()).to.have.members(["ats-1 1", "ats-2 1"]);
    expect(await account.used()).to.include({ create: 2 });

    await push([
      { ...ADA, name: "Ada Okafor" },
      { ...NOBODY, external_id: "ats-3", name: "Edsger" },
    ]);
    const now = new Map((await feed()).map((row) => [row.external_id, row]));
    expect(now.get("ats-1")).to.include({ name: "Ada Okafor", version: 2 });
    expect(now.get("ats-2")).to.include({ state: "withdrawn" });
    expect(now.get("ats-3")).to.include({ name: "Edsger" });

    await push([ADA, GRACE, { ...NOBODY, external_id: "ats-3", name: "Edsger" }]);
    expect((await client.get("/candidates/external:ats-2")).body.withdrawn).to.equal(false);

    const before = await versions();
    for (const wrong of [[], [ADA, GRACE, { ...ADA, external_id: " ats-1 " }], [ADA, GRACE, NOBODY_AT_ALL]])
      await push(wrong).then(
        () => expect.fail("it took an export that was cut off, an id twice, or none"),
        () => undefined,
      );
    expect(await versions()).to.have.members(before);
  }

  function linesOf(example: string): string {
    const source = readFileSync(join(EXAMPLES, example), "utf8");
    expect(source.trimEnd().split("\n").length).to.be.at.most(60);
    return source;
  }

  it("push.ts pushes a JSON file with the client, in 60 lines", async () => {
    const source = linesOf("push.ts");
    const file = join(mkdtempSync(join(tmpdir(), "onboarding-push-")), "pipeline.json");
    const env = { ONBOARDING_URL: service.url, ONBOARDING_KEY: account.key, PIPELINE_FILE: file };
    await pushes((rows) => {
      writeFileSync(file, JSON.stringify(rows));
      return runProgram(source, { env, types: ["node"] });
    });
  });

  it("push.py pushes a CSV file, in 60 lines", async function () {
    linesOf("push.py");
    const python = process.env.MIRRORS_PYTHON ?? "python3";
    const available = await run(python, ["-c", "import httpx, sqlite3"]).then(
      () => true,
      () => false,
    );
    if (!available) this.skip(); // npm run test:mirrors installs httpx
    const folder = mkdtempSync(join(tmpdir(), "onboarding-push-"));
    const env = {
      ...process.env,
      ONBOARDING_URL: service.url,
      ONBOARDING_KEY: account.key,
      PUSH_FILE: join(folder, "push.db"),
    };
    await pushes(async (rows) => {
      const cells = (values: readonly string[]) => values.map((value) => JSON.stringify(value)).join(",");
      const file = join(folder, "pipeline.csv");
      writeFileSync(
        file,
        [
          cells(Object.keys(ADA)),
          ...rows.map((row) => cells(Object.keys(ADA).map((name) => row[name as keyof Row]))),
        ].join("\n"),
      );
      return (await run(python, [join(EXAMPLES, "push.py"), file], { env })).stdout;
    });
  });
});
