import { spawn } from "node:child_process";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { build, tool, variants } from "./build.ts";
import type { Manifest } from "./manifests.ts";

/** The kinds of the Prometheus operator, of Gateway API and of Envoy Gateway. Kubernetes has no schema of them. */
const OPERATOR_KINDS = [
  ...["PrometheusRule", "ServiceMonitor", "PodMonitor"].map((kind) => `monitoring.coreos.com/v1 ${kind}`),
  ...["Gateway", "HTTPRoute"].map((kind) => `gateway.networking.k8s.io/v1 ${kind}`),
  ...["EnvoyProxy", "ClientTrafficPolicy", "BackendTrafficPolicy"].map(
    (kind) => `gateway.envoyproxy.io/v1alpha1 ${kind}`,
  ),
];
const PROGRAM = fileURLToPath(new URL("validate.py", import.meta.url));

const kindOf = ({ apiVersion, kind }: Manifest) => `${apiVersion} ${kind}`;
const isKnown = (manifest: Manifest) => !OPERATOR_KINDS.includes(kindOf(manifest));

describe("the manifests in k8s/", () => {
  const python = tool("K8S_SCHEMAS");
  /** Every manifest once, however many variants have it. */
  let manifests: readonly Manifest[];

  before("build every overlay, and every component on production", async () => {
    const built = await Promise.all(variants().map(build));
    const all = built.flatMap(({ manifests }) => manifests);
    manifests = [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
  });

  /** @returns what is wrong with each manifest, by version of Kubernetes. */
  async function validate(manifests: readonly Manifest[]): Promise<Record<string, (string | null)[]>> {
    const child = spawn(python, [PROGRAM], { stdio: ["pipe", "pipe", "inherit"] });
    child.stdin.end(JSON.stringify(manifests));
    return (await json(child.stdout)) as Record<string, (string | null)[]>;
  }

  it("are valid for the three newest versions of Kubernetes, without an unknown field", async function () {
    if (python === "") this.skip();
    const known = manifests.filter(isKnown);
    const faults = await validate(known);
    expect(Object.keys(faults)).to.have.length(3);
    for (const [version, found] of Object.entries(faults)) expect(found, version).to.deep.equal(known.map(() => null));
  });

  it("would not pass with an unknown field, a wrong type or an unknown kind", async function () {
    if (python === "") this.skip();
    const [good] = manifests.filter(({ kind }) => kind === "PodDisruptionBudget");
    const bad = [
      { ...good, spec: { ...(good?.spec as object), maxUnavailabel: 1 } },
      { ...good, spec: { ...(good?.spec as object), selector: "onboarding" } },
      { ...good, kind: "PodDisruptionBudgit" },
    ] as Manifest[];
    for (const found of Object.values(await validate(bad))) expect(found).to.have.length(3).and.not.to.include(null);
  });

  it("have only kinds of Kubernetes and those of operators that are listed here", () => {
    const groups = /^(v1|apps\/v1|batch\/v1|autoscaling\/v2|policy\/v1|(networking|scheduling)\.k8s\.io\/v1) [A-Z]\w+$/;
    const others = manifests.map(kindOf).filter((kind) => !groups.test(kind));
    expect(OPERATOR_KINDS).to.include.members(others);
  });
});
