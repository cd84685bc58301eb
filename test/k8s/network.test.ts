import { expect } from "chai";
import { build, inEveryVariant } from "./build.ts";
import { type NetworkPolicy, ofKind, type Peer, type Pods, podsOf, portOf, selects } from "./manifests.ts";

/** What talks to what in the namespace. A path counts only in overlays that have both of its pods. */
const INSIDE = [
  "onboarding → redis:6379",
  "onboarding → mongodb:27017",
  "mongodb-initiate → mongodb:27017",
  "mongodb → mongodb:27017",
];
/** Those of the exactness probe. It has its own policies. */
const OF_PROBE = ["onboarding:8080", "redis:6379", "mongodb:27017"].map((to) => `exactness-probe → ${to}`);
const fromOutside = (components: readonly string[]) => [
  `${components.includes("gateway-envoy") ? "envoy-gateway-system" : "ingress-nginx"} → onboarding:8080`,
  "monitoring → onboarding:9090",
];
const TO_STORES = [6379, 6380, 26379, 27017].map((port) => `onboarding → anywhere:${port}`);
/** What a component adds to network-policies. */
const OF_COMPONENTS: Record<string, string[]> = {
  "network-policies-otlp": [4318, 4317].map((port) => `onboarding → monitoring:${port}`),
  "network-policies-mail": [587, 465].map((port) => `onboarding → anywhere:${port}`),
  "network-policies-exactness-probe": [6379, 6380, 26379, 27017].map((port) => `exactness-probe → anywhere:${port}`),
};

/** Returns every path that the policies allow in one direction, as `from → to:port`. A path between pods needs both. */
function pathsOf(direction: "Ingress" | "Egress", policies: readonly NetworkPolicy[], all: readonly Pods[]): string[] {
  const rulesFor = ({ labels }: Pods) =>
    policies
      .filter(({ podSelector, policyTypes }) => selects(podSelector, labels) && policyTypes.includes(direction))
      .flatMap(({ ingress = [], egress = [] }) =>
        direction === "Ingress"
          ? ingress.map(({ from: peers, ports }) => ({ peers, ports }))
          : egress.map(({ to: peers, ports }) => ({ peers, ports })),
      );
  return all.flatMap((pods) =>
    rulesFor(pods).flatMap(({ peers, ports }) => {
      const others = peers?.flatMap((peer) => whoIs(peer, all)) ?? [...all, "anywhere"];
      return others.flatMap((other) => {
        const [from, to] = direction === "Ingress" ? [other, pods] : [pods, other];
        return (ports ?? [{ port: "*" }]).map(({ port }) => `${nameOf(from)} → ${nameOf(to)}:${numberOf(port, to)}`);
      });
    }),
  );
}

const nameOf = (end: Pods | string) => (typeof end === "string" ? end : end.name);
const numberOf = (port: string | number, to: Pods | string) =>
  typeof to === "string" ? port : (portOf(to, port) ?? port);

/** Returns the pods of this namespace that a peer is, or a name for what is outside of it. */
function whoIs({ namespaceSelector, podSelector, ipBlock }: Peer, all: readonly Pods[]): (Pods | string)[] {
  if (ipBlock !== undefined) return [ipBlock.cidr];
  if (namespaceSelector === undefined) return all.filter(({ labels }) => selects(podSelector, labels));
  const namespace = namespaceSelector.matchLabels?.["kubernetes.io/metadata.name"] ?? "any namespace";
  const app = podSelector?.matchExpressions?.find(({ key }) => key === "k8s-app")?.values.join("|");
  return [app === undefined ? namespace : `${namespace}/${app}`];
}

describe("the network policies of k8s/", () => {
  /** Makes assertions on each variant that has policies: production has them, elsewhere they are opt-in. */
  const withPolicies = (check: (policies: NetworkPolicy[], all: Pods[], components: readonly string[]) => void) =>
    inEveryVariant(({ title, manifests, components }) => {
      const policies = ofKind("NetworkPolicy", manifests).map(({ spec }) => spec);
      const isOn = title.startsWith("overlays/production") || components.includes("network-policies");
      expect(policies.length > 0).to.equal(isOn);
      if (policies.length > 0) check(policies, podsOf(manifests), components);
    });

  it(
    "deny everything first",
    withPolicies((policies) =>
      expect(policies).to.deep.include({ podSelector: {}, policyTypes: ["Ingress", "Egress"] }),
    ),
  );

  it(
    "allow exactly the paths between the pods that are needed",
    withPolicies((policies, all, components) => {
      const names = all.map(({ name }) => name);
      const paths = [...INSIDE, ...(components.includes("network-policies-exactness-probe") ? OF_PROBE : [])];
      const expected = paths.filter((path) => path.split(/ → |:/, 2).every((name) => names.includes(name)));
      const incoming = pathsOf("Ingress", policies, all);
      const found = pathsOf("Egress", policies, all).filter((path) => incoming.includes(path));
      expect(new Set(found)).to.deep.equal(new Set(expected));
    }),
  );

  it(
    "allow exactly the paths from and to outside that are needed",
    withPolicies((policies, all, components) => {
      const inside = all.flatMap(({ name: from }) => all.map(({ name: to }) => `${from} → ${to}:`));
      const found = [...pathsOf("Ingress", policies, all), ...pathsOf("Egress", policies, all)].filter(
        (path) => !inside.some((start) => path.startsWith(start)),
      );
      const dns = ["any namespace/kube-dns|coredns|node-local-dns", "169.254.20.10/32", "fd00:10::10/128"];
      const toDns = all.flatMap(({ name }) => dns.map((server) => `${name} → ${server}:53`));
      const isHere = (path: string) => all.some(({ name }) => path.startsWith(`${name} → `));
      const added = components.flatMap((name) => OF_COMPONENTS[name] ?? []).filter(isHere);
      expect([...new Set(found)]).to.have.members([...fromOutside(components), ...TO_STORES, ...toDns, ...added]);
    }),
  );

  for (const component of [
    "network-policies-dev",
    "network-policies-otlp",
    "network-policies-mail",
    "network-policies-exactness-probe",
    "gateway-envoy",
  ]) {
    it(`refuse ${component} without network-policies`, async () => {
      const built = build({ folder: "overlays/dev", components: [component] });
      const error = await built.then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      expect(error?.message).to.match(/no matches for Id NetworkPolicy/);
    });
  }
});
