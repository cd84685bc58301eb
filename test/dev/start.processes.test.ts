import { exec, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { tryLock } from "../../src/dev/lock.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { useDatabase } from "../support/use-service.ts";
import { greeting, refusal, start, stop, useFolder } from "./support.ts";

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
    ["cannot be created, several levels deep", "/proc/nope/a/b"],
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

  it("names MONGODB_URL, without its password, if MongoDB does not respond", async () => {
    const { code, line } = await refusal(
      start(folder(), { MONGODB_URL: "mongodb://ann:secret@127.0.0.1:1/onboarding" }),
    );
    expect(code).to.equal(1);
    expect(line).to.include("MONGODB_URL").and.not.include("secret").and.not.include("\n");
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
