import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { parse, stringify } from "yaml";
import { build, K8S, variants } from "./build.ts";
import { type Labels, type Manifest, ofKind, one, podsOf, type Selector, selects } from "./manifests.ts";

/** The overlay in the comment at the head of a component. */
const OVERLAY = readFileSync(join(K8S, "components/instance/kustomization.yaml"), "utf8")
  .split("\n#\n")
  .find((part) => part.includes("kind: Kustomization"))!
  .replaceAll(/^#   /gm, "");
/** The Secrets that the operator makes, and the certificate of an Ingress or a Gateway. */
const SECRETS = ["mongodb", "redis", "mail", "onboarding-tls"];

/** Returns every value of one of these members, at any depth. */
function valuesOf(value: unknown, members: readonly string[]): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([member, inner]) =>
    members.includes(member) && typeof inner === "string" ? [inner] : valuesOf(inner, members),
  );
}

/** Returns each selector of pods, with the object that has it. An empty one selects every pod of the namespace on purpose. */
function selectorsOf(manifests: readonly Manifest[]): [owner: string, Selector][] {
  const found: [string, Selector | undefined][] = [
    ...ofKind("Deployment", manifests).flatMap(({ spec }): [string, Selector | undefined][] => [
      ["Deployment", spec.selector],
      ...(spec.template.spec.topologySpreadConstraints ?? []).map(
        ({ labelSelector }): [string, Selector | undefined] => ["topologySpreadConstraints", labelSelector],
      ),
    ]),
    ...ofKind("Service", manifests).map(({ metadata, spec }): [string, Selector] => [
      metadata.name,
      { matchLabels: spec.selector ?? {} },
    ]),
    ...ofKind("PodDisruptionBudget", manifests).map(({ spec }): [string, Selector] => ["budget", spec.selector]),
    ...ofKind("NetworkPolicy", manifests).map(({ metadata, spec }): [string, Selector] => [
      metadata.name,
      spec.podSelector,
    ]),
  ];
  return found.filter((pair): pair is [string, Selector] => Object.keys(pair[1]?.matchLabels ?? {}).length > 0);
}

describe("two installations in one namespace", () => {
  let first: readonly Manifest[];
  let second: readonly Manifest[];
  before("build both with all components", async () => {
    const production = variants().filter(({ folder }) => folder === "overlays/production");
    const { components = [] } = production.find((variant) => variant.components.length > 5) ?? {};
    first = (await build({ folder: "overlays/production", components })).manifests;
    const overlay = parse(readFileSync(join(K8S, "overlays/production/kustomization.yaml"), "utf8")) as object;
    const files = {
      "overlays/production/kustomization.yaml": stringify({
        ...overlay,
        components: components.map((name) => `../../components/${name}`),
      }),
      "overlays/b/kustomization.yaml": OVERLAY,
    };
    second = (await build({ folder: "overlays/b", components: [], files })).manifests;
  });
  const podLabels = (manifests: readonly Manifest[]): Labels[] => podsOf(manifests).map(({ labels }) => labels);

  it("have the same kinds of objects, and no two objects of one kind and name", () => {
    const namesOf = (manifests: readonly Manifest[]) =>
      manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`);
    const all = [...namesOf(first), ...namesOf(second)];
    expect(new Set(all)).to.have.property("size", all.length);
    const kinds = (manifests: readonly Manifest[]) => manifests.map(({ kind }) => kind).toSorted();
    expect(kinds(second)).to.deep.equal(kinds(first).filter((kind) => kind !== "Namespace"));
  });

  it("share a namespace, which only the first one has: deleting the second one does not delete it", () => {
    const namespaces = new Set([...first, ...second].flatMap(({ metadata }) => metadata.namespace ?? []));
    expect([...namespaces]).to.deep.equal(["onboarding"]);
    expect(second.map(({ kind }) => kind)).not.to.include("Namespace");
  });

  it("select no pod of each other", () => {
    for (const [own, other] of [[first, second] as const, [second, first] as const]) {
      const selectors = selectorsOf(own);
      expect(selectors).to.have.length.above(8);
      for (const [owner, selector] of selectors) {
        expect(
          podLabels(own).some((labels) => selects(selector, labels)),
          `own pods of ${owner}`,
        ).to.equal(true);
        expect(
          podLabels(other).some((labels) => selects(selector, labels)),
          `other pods of ${owner}`,
        ).to.equal(false);
      }
    }
  });

  it("are scraped once each, and both as the job of the rules", () => {
    for (const [own, other] of [[first, second] as const, [second, first] as const]) {
      const { selector, jobLabel = "" } = one("ServiceMonitor", own).spec;
      const services = (manifests: readonly Manifest[]) =>
        ofKind("Service", manifests).filter(({ metadata }) => selects(selector, metadata.labels ?? {}));
      expect(services(own).map(({ metadata }) => metadata.labels?.[jobLabel])).to.deep.equal([
        "candidate-onboarding-service",
      ]);
      expect(services(other)).to.deep.equal([]);
    }
  });

  it("have a Deployment and a Service whose names differ as OnboardingDown expects", () => {
    for (const manifests of [first, second]) {
      const names = ofKind("Service", manifests).map(({ metadata }) => metadata.name);
      expect(names).to.include(one("Deployment", manifests).metadata.name.replace(/^onboarding/, "onboarding-ops"));
    }
  });

  it("refer to nothing of each other's: Secrets, settings, accounts, targets, backends", () => {
    const references = ["name", "secretName", "serviceAccountName", "priorityClassName"];
    const named = (manifests: readonly Manifest[]) => manifests.map(({ metadata }) => metadata.name);
    const specs = second.map(({ spec }) => spec);
    const found = valuesOf(specs, references);
    for (const name of [...SECRETS, ...named(first)]) expect(found, name).not.to.include(name);
    for (const name of SECRETS) expect(found).to.include(`${name}-b`);
    for (const name of named(second)) expect(valuesOf(first, references)).not.to.include(name);
  });

  it("are asked by their own exactness probe", () => {
    const urlOf = (manifests: readonly Manifest[]) => {
      const probe = podsOf(manifests).find(({ owner }) => owner.startsWith("CronJob/exactness-probe"))!;
      return probe.containers[0]!.env!.find(({ name }) => name === "SERVICE")!.value;
    };
    expect([urlOf(first), urlOf(second)]).to.deep.equal(["onboarding", "onboarding-b"]);
  });
});
