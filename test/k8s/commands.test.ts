import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { build } from "./build.ts";
import { podsOf, selects } from "./manifests.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(ROOT, file), "utf8");
const files = (...patterns: string[]) =>
  String(execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns], { cwd: ROOT }))
    .split("\n")
    .filter(Boolean);

/** Commands with an argument, on objects in a namespace. A subcommand alone is a mention: "`kubectl apply` fails". */
const IN_A_NAMESPACE =
  /^(-n \S+ )?(annotate|cp|create|delete|describe|edit|exec|get|label|logs|patch|port-forward|rollout|scale|set|top|wait) +\S/;
/** Commands on the whole cluster, or whose files name the namespace. */
const OF_THE_CLUSTER = /^(create|delete) (-k|namespace)/;

/** Returns each kubectl command in a text, from `kubectl` to the end of its code or line. */
function commandsIn(text: string): string[] {
  const joined = text.replaceAll(/\\?\n\s*(?=\S)/g, "\n");
  return Array.from(joined.matchAll(/\bkubectl ([^`\n|]*)/g), ([, command = ""]) => command.trim());
}

/** Every command with arguments in the guides, in README.md and in the comments of k8s/, with its file. */
const COMMANDS = files("*.md", "k8s/*.yaml").flatMap((file) =>
  commandsIn(read(file)).map((command) => ({ file, command })),
);

describe("the kubectl commands of the documentation", () => {
  it("are found", () => expect(COMMANDS).to.have.length.above(15));

  it("name their namespace", () => {
    const scoped = COMMANDS.filter(({ command }) => IN_A_NAMESPACE.test(command) && !OF_THE_CLUSTER.test(command));
    expect(scoped).to.have.length.above(12);
    for (const { file, command } of scoped) expect(command, file).to.match(/^-n [\w-]+ /);
  });

  it("print the whole log of each pod that a selector means, not its last ten lines", async () => {
    const { manifests } = await build({ folder: "overlays/production", components: ["exactness-probe"] });
    const logs = COMMANDS.filter(({ command }) => /\blogs .*-l /.test(command));
    expect(logs).not.to.have.length(0);
    for (const { command } of logs) {
      expect(command).to.match(/ --tail=-1( |$)/);
      const [, selector = ""] = / -l (\S+)/.exec(command) ?? [];
      const matchLabels = Object.fromEntries(selector.split(",").map((pair) => pair.split("=")));
      expect(podsOf(manifests).filter(({ labels }) => selects({ matchLabels }, labels))).to.have.length(1);
    }
  });

  it("hold no secret", () => {
    for (const { file, command } of COMMANDS)
      expect(command, file).not.to.match(/--from-literal|:\/\/[^\s/]*@|--docker-password|password=/);
  });
});

describe("the command `secret` of operating.md", () => {
  const dir = mkdtempSync(join(tmpdir(), "onboarding-kubectl-"));
  const log = join(dir, "log");
  before(() => {
    // Records its arguments and its input. `create` prints an object, which `apply` reads.
    writeFileSync(
      join(dir, "kubectl"),
      `#!/bin/sh\necho "args $*" >>${log}\ncase "$*" in *apply*-k*|*-f\\ k8s*) ;; *) tee -a ${log} ;; esac\n`,
    );
    chmodSync(join(dir, "kubectl"), 0o755);
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  it("gives a URL to kubectl on standard input, never as an argument, and forgets it", () => {
    const [, block] = /```sh\n([^`]*secret\(\) [^`]*)```/.exec(read("src/docs/operating.md")) ?? [];
    const url = "rediss://user:p%40ss$word'\\@redis.example.com:6380";
    const script = `${block}\nsecret redis\necho "left: $URL"`;
    const env = { PATH: `${dir}:${process.env["PATH"]}` };
    const printed = execFileSync("bash", ["--norc", "-c", script], { input: `${url}\n`, env, encoding: "utf8" });
    const lines = readFileSync(log, "utf8").split("\n");
    const args = lines.filter((line) => line.startsWith("args "));
    expect(args.join("\n")).not.to.contain("redis.example.com");
    expect(args.join("\n")).to.match(/-n onboarding create secret generic redis --from-file=url=\/dev\/stdin/);
    expect(
      lines.some((line) => line.startsWith(url)),
      "the whole URL, without an end of line",
    ).to.equal(true);
    expect(printed).to.contain("left: \n");
  });
});
