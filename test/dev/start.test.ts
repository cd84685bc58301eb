import { exec, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { dataDirOf, toolsIn } from "../../src/dev/data-dir.ts";
import { tryLock } from "../../src/dev/lock.ts";
import { readServers } from "../../src/dev/servers-file.ts";
import type { AccountLimits } from "../../src/limits/account-limits.ts";
import { type Answer, Client } from "../support/client.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { useDatabase } from "../support/use-service.ts";
import { greeting, refusal, start, stop, useFolder } from "./support.ts";

/** Returns the files and folders, `tools` apart, that others than their owner may read or write. */
function openFiles(dataDir: string): string[] {
  return [".", ...readdirSync(dataDir, { recursive: true, encoding: "utf8" })].filter(
    (name) => !name.startsWith("tools") && (lstatSync(join(dataDir, name)).mode & 0o077) !== 0,
  );
}

describe("npm start", function () {
  this.timeout(60_000);
  const folder = useFolder();
  const mongo = useDatabase();

  it("shows a key once, in a curl command that works, and stops on a signal", async () => {
    const MONGODB_URL = withDatabase(process.env["MONGODB_URL"] ?? "", mongo.db.databaseName);
    const first = start(folder(), { MONGODB_URL });
    const shown = await greeting(first);
    const curl = /^ *curl -i (.*)$/m.exec(shown)?.[1] ?? "";
    const { stdout } = await promisify(exec)(`curl -s -o /dev/null -w '%{http_code}' ${curl}`);
    expect(stdout).to.equal("201");
    expect(await stop(first, "SIGINT")).to.equal(0);

    const second = start(folder(), { MONGODB_URL });
    const again = await greeting(second);
    expect(again).to.include("keys create --account acct_").and.not.include("cos_live_");
    expect(await stop(second, "SIGTERM")).to.equal(0);
  });

  it("refuses a data folder that another process uses", async () => {
    const release = await tryLock(folder());
    const { code, line } = await refusal(start(folder()));
    release?.();
    expect(code).to.equal(1);
    expect(line).to.match(new RegExp(`^npm start is already running on \\S+ \\(process ${process.pid}\\)\\. .*$`));
  });

  it("names every wrong setting before it does anything", async () => {
    const { code, line } = await refusal(start(folder(), { PORT: "http", REPLICAS: "0" }));
    expect(code).to.equal(1);
    expect(line.split("\n").map((fault) => fault.split(":")[0])).to.deep.equal(["PORT", "REPLICAS"]);
  });

  for (const setting of ["PORT", "OPS_PORT"]) {
    it(`refuses a port that is taken, in ${setting}, before it installs or starts anything`, async () => {
      const other = createServer().listen(0, "127.0.0.1");
      await once(other, "listening");
      const { port } = other.address() as AddressInfo;
      const { code, line } = await refusal(start(folder(), { [setting]: `${port}`, REDIS_URL: "", MONGODB_URL: "" }));
      other.close();
      expect(code).to.equal(1);
      expect(line).to.equal(`Port ${port} is taken by another process. Stop it, or set ${setting} to a free port.`);
      expect(readdirSync(folder())).to.deep.equal([]);
    });
  }

  for (const [what, path] of [
    ["cannot be created", "/proc/nope"],
    ["cannot be created, several levels deep", "/proc/nope/a/b"],
    ["is a file", resolve("package.json")],
    ["is inside a file", resolve("package.json/data")],
  ] as const) {
    it(`exits with one line if DATA_DIR ${what}`, async () => {
      const { code, line } = await refusal(start(path));
      expect(code).to.equal(1);
      expect(line)
        .to.match(/^DATA_DIR \S+ cannot be used: .+\. Set DATA_DIR to a folder that you can write to\.$/)
        .and.include(path);
    });
  }

  it("names MONGODB_URL, without its password, if MongoDB does not answer", async () => {
    const { code, line } = await refusal(
      start(folder(), { MONGODB_URL: "mongodb://ann:secret@127.0.0.1:1/onboarding" }),
    );
    expect(code).to.equal(1);
    expect(line).to.include("MONGODB_URL").and.not.include("secret").and.not.include("\n");
  });

  it("starts its own Redis and MongoDB again if they die, with their data", async () => {
    symlinkSync(toolsIn(dataDirOf(process.env)), join(folder(), "tools"));
    const child = start(folder(), { REDIS_URL: "", MONGODB_URL: "", LIMIT_SCALE: "1000" });
    const printed = text(child.stderr!);
    const [, url, key] = /(http:\S+)[^]*(cos_live_\w+)/.exec(await greeting(child)) ?? [];
    child.stdout?.resume(); // the service would wait if nobody read its log
    const client = new Client(url!.replace(/\/candidates$/, ""), key!);
    const { id } = (await client.post("/candidates", { name: "Ada" })).body;
    const { redis, mongodb } = readServers(folder());
    for (const each of [redis, mongodb]) process.kill(each!.pid, "SIGKILL");
    const answers: Answer[] = [];
    while (answers.at(-1)?.status !== 200) answers.push(await client.get(`/candidates/${id}`));
    expect(new Set(answers.map(({ status }) => status)).size, "it was away in between").to.equal(2);
    expect(answers.at(-1)?.body.name).to.equal("Ada");
    const limits = (await client.get("/limits")).body as unknown as AccountLimits;
    expect(limits.surfaces.find(({ surface }) => surface === "create")?.account.used).to.equal(1);
    expect(readServers(folder()).redis?.url).to.equal(redis?.url);
    expect(openFiles(folder()), "files that others may read").to.deep.equal([]);
    expect(await stop(child, "SIGTERM")).to.equal(0);
    expect((await printed).match(/stopped unexpectedly/g)).to.have.length(2);
  });

  it("is one line that points to WSL on plain Windows", async () => {
    const onWindows =
      'Object.defineProperty(process, "platform", { value: "win32" }); await import("./src/dev/platform.mjs")';
    const child = spawn(process.execPath, ["--input-type=module", "--eval", onWindows]);
    const { code, line } = await refusal(child);
    expect(code).to.equal(1);
    expect(line).to.match(/^.* WSL: .*$/);
    const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };
    expect(scripts).to.include({ prestart: "node src/dev/platform.mjs", pretest: "node src/dev/platform.mjs" });
  });
});
