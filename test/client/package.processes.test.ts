import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { expect } from "chai";
import own from "../../src/client/package.json" with { type: "json" };
import service from "../../package.json" with { type: "json" };
import { useAccount, useService } from "../support/use-service.ts";
import { installed, runProgram } from "./installed.ts";

const PROGRAM = `
import { type Candidate, OnboardingClient, ProblemError } from "@candidate-onboarding/client";

declare const process: { env: Record<string, string> };
const client = new OnboardingClient({ baseUrl: process.env["URL"] ?? "", apiKey: process.env["KEY"] ?? "" });
const created: Candidate = await client.createCandidate({ name: "Ada" });
for await (const row of client.mirror()) {
  if (row.deleted) throw new Error("nothing was deleted");
  const name: string | null = row.name;
  console.log(name, row.id === created.id);
}
try {
  await client.readCandidate("cand_unknown");
} catch (error) {
  if (error instanceof ProblemError) console.log(error.code);
}
`;

describe("the package of the client", () => {
  const running = useService();
  const account = useAccount(running);

  it("works in an empty project, with its types and without other packages", async () => {
    const project = await installed();
    const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as { packages: object };
    expect(Object.keys(lock.packages)).to.deep.equal(["", "node_modules/@candidate-onboarding/client"]);
    const output = await runProgram(PROGRAM, { env: { URL: running.url, KEY: account.key } });
    expect(output).to.equal("Ada true\nnot_found\n");
  });

  it("is installed by the first command of its README, from the service", async function () {
    this.timeout(60_000); // the first request renders the pages
    const folder = mkdtempSync(join(tmpdir(), "onboarding-served-"));
    const [, command = ""] = /^```sh\n(.*)\n```$/m.exec(readFileSync("src/client/README.md", "utf8")) ?? [];
    const quiet = { npm_config_audit: "false", npm_config_fund: "false", npm_config_update_notifier: "false" };
    const env = { ...process.env, ...quiet, BASE: running.url, npm_config_cache: join(folder, "cache") };
    await promisify(execFile)("bash", ["-c", `echo {} > package.json && ${command}`], { cwd: folder, env });
    const contents = (project: string) => {
      const at = join(project, "node_modules/@candidate-onboarding/client");
      const names = readdirSync(at, { recursive: true, encoding: "utf8" }).toSorted();
      return names.map((name) => [name, statSync(join(at, name)).isFile() && readFileSync(join(at, name), "utf8")]);
    };
    expect(contents(folder)).to.deep.equal(contents(await installed()));
  });

  it("holds its code, its types and its README, and no source", async () => {
    const files = readdirSync(join(await installed(), "node_modules/@candidate-onboarding/client"), {
      recursive: true,
      encoding: "utf8",
    });
    expect(files).to.include.members(["README.md", "LICENSE", "package.json", "dist/index.js", "dist/index.d.ts"]);
    expect(files.filter((name) => /(?<!\.d)\.ts$/.test(name))).to.deep.equal([]);
  });

  it("refuses a program that sends what the service does not take", async () => {
    const error = await runProgram(PROGRAM.replace(`{ name: "Ada" }`, `{ nmae: "Ada" }`)).catch(String);
    expect(error).to.match(/It does not compile[^]*nmae/);
  });

  it("has the service's version", () => {
    expect(own.version).to.equal(service.version);
    expect(readFileSync("src/client/README.md", "utf8")).to.include(
      `/docs/client/candidate-onboarding-client-${own.version}.tgz`,
    );
    expect(own).not.to.have.property("dependencies");
    expect(own.license).to.equal(service.license);
    expect(readFileSync("src/client/LICENSE", "utf8")).to.equal(readFileSync("LICENSE", "utf8"));
  });

  it("can be bundled for browsers: it needs nothing of Node", async () => {
    const entry = join(await installed(), "node_modules/@candidate-onboarding/client/dist/index.js");
    const { outputFiles, metafile } = await build({
      entryPoints: [entry],
      bundle: true,
      platform: "browser",
      format: "esm",
      minify: true,
      write: false,
      metafile: true,
    });
    const imports = Object.values(metafile.outputs).flatMap((output) => output.imports);
    expect(imports).to.deep.equal([]);
    const code = outputFiles[0]?.text ?? "";
    expect(code).not.to.match(/\b(Buffer|process|require)\b/);
    expect(code.length, "bytes, before compression").to.be.within(5_000, 22_000);
  });
});
