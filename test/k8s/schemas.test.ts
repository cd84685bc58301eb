import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { build, type Built, tool, variants } from "./build.ts";
import type { Manifest } from "./manifests.ts";

/** The Prometheus operator's own kinds. Kubernetes has no schema of them. rules/operator.ts checks their structure. */
const OPERATOR_KINDS = ["PrometheusRule", "ServiceMonitor", "PodMonitor"].map(
  (kind) => `monitoring.coreos.com/v1 ${kind}`,
);
/** Kubernetes supports its newest three versions. */
const VERSIONS = 3;

const kindOf = ({ apiVersion, kind }: Manifest) => `${apiVersion} ${kind}`;
const isKnown = (manifest: Manifest) => !OPERATOR_KINDS.includes(kindOf(manifest));

describe("the manifests in k8s/", () => {
  const python = tool("K8S_SCHEMAS");
  let built: Built[] = [];
  let folder: string;

  before("build every overlay, and every component on production", async () => {
    folder = await mkdtemp(join(tmpdir(), "onboarding-k8s-"));
    // log-metrics is an add-on for each node, outside of the overlays and of the policy of their pods.
    built = await Promise.all([...(await variants()), { folder: "log-metrics", components: [] }].map(build));
  });

  after(() => rm(folder, { recursive: true }));

  /** Returns the newest versions of Kubernetes that the validator has schemas of. */
  async function newestVersions(): Promise<string[]> {
    const code = "import kubernetes_validate.utils as u; print(*u.all_versions())";
    const { stdout } = await promisify(execFile)(python, ["-c", code]);
    return stdout.trim().split(" ").slice(-VERSIONS);
  }

  /** Validates manifests as JSON, which is YAML too. @returns the lines that are printed: one for each manifest. */
  async function validate(manifests: readonly Manifest[], version: string): Promise<string[]> {
    const file = join(folder, `${version}-${Math.random()}.yaml`);
    await writeFile(file, manifests.map((manifest) => JSON.stringify(manifest)).join("\n---\n"));
    const args = ["-m", "kubernetes_validate", "--kubernetes-version", version, "--strict", file];
    const { stdout } = await promisify(execFile)(python, args).catch((error: { stdout: string }) => error);
    return stdout
      .trim()
      .split("\n")
      .map((line) => line.replaceAll(`${file} `, ""));
  }

  /** Returns every manifest once, however many variants have it. */
  function distinct(): Manifest[] {
    return [...new Map(built.flatMap(({ manifests }) => manifests).map((one) => [JSON.stringify(one), one])).values()];
  }

  it("are valid for the three newest versions of Kubernetes, without an unknown field", async function () {
    if (python === "") this.skip();
    const known = distinct().filter(isKnown);
    const versions = await newestVersions();
    expect(versions).to.have.length(VERSIONS);
    for (const version of versions) {
      const lines = await validate(known, version);
      expect(lines.filter((line) => !line.includes(" passed for resource "))).to.deep.equal([]);
      expect(lines, version).to.have.length(known.length);
    }
  });

  it("would not pass with an unknown field, a wrong type or an unknown kind", async function () {
    if (python === "") this.skip();
    const [version = ""] = await newestVersions();
    const [good] = distinct().filter(({ kind }) => kind === "PodDisruptionBudget");
    const bad = [
      { ...good, spec: { ...(good?.spec as object), maxUnavailabel: 1 } },
      { ...good, spec: { ...(good?.spec as object), selector: "onboarding" } },
      { ...good, kind: "PodDisruptionBudgit" },
    ] as Manifest[];
    const lines = await validate(bad, version);
    expect(lines).to.have.length(bad.length);
    expect(lines.filter((line) => line.includes(" passed "))).to.deep.equal([]);
  });

  it("have only kinds of Kubernetes and three of the Prometheus operator", () => {
    const groups = /^(v1|apps\/v1|batch\/v1|autoscaling\/v2|policy\/v1|networking\.k8s\.io\/v1) [A-Z]\w+$/;
    const others = distinct()
      .map(kindOf)
      .filter((kind) => !groups.test(kind));
    expect(OPERATOR_KINDS).to.include.members(others);
  });
});
