import { BlockList, isIPv6 } from "node:net";
import { expect } from "chai";
import { build, inEveryVariant } from "./build.ts";
import { type NetworkPolicy, ofKind, one, type Peer, type Pods, podsOf, portOf, selects } from "./manifests.ts";

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
  "network-policies-webhooks": ["0.0.0.0/0", "2000::/3"].map((block) => `onboarding → ${block}:443`),
  "network-policies-exactness-probe": [6379, 6380, 26379, 27017].map((port) => `exactness-probe → anywhere:${port}`),
};

/** Addresses that no nudge may reach, whatever name a client gives them: each is in a range that is not public. */
const NOT_PUBLIC = [
  "0.0.0.0 10.96.0.1 100.100.100.200 127.0.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.168.1.1",
  "198.18.0.1 224.0.0.1 240.0.0.1 255.255.255.255 :: ::1 fc00::1 fd00:ec2::254 fd20:ce::254 fe80::1 ff02::1",
  "64:ff9b::a9fe:a9fe 2001:0:a9fe:a9fe::1 2002:a9fe:a9fe::1",
].flatMap((line) => line.split(" "));
const PUBLIC = [
  "1.1.1.1",
  "11.0.0.1",
  "100.63.255.255",
  "172.32.0.1",
  "192.0.1.1",
  "223.255.255.255",
  "2606:4700::1111",
];

/** Returns whether the address is in one of the blocks and in none of its exceptions. */
function isAllowed(address: string, blocks: readonly NonNullable<Peer["ipBlock"]>[]): boolean {
  const isIn = (cidrs: readonly string[]) => {
    const list = new BlockList();
    for (const cidr of cidrs) {
      const [net = "", bits] = cidr.split("/");
      list.addSubnet(net, Number(bits), isIPv6(net) ? "ipv6" : "ipv4");
    }
    return list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
  };
  return blocks.some(({ cidr, except = [] }) => isIn([cidr]) && !isIn(except));
}

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

  it("let nudges reach every public address, and no other", async () => {
    const { manifests } = await build({ folder: "overlays/production", components: ["network-policies-webhooks"] });
    const { egress = [] } = one("NetworkPolicy", manifests, "allow-webhooks").spec;
    const blocks = egress.flatMap(({ to = [] }) => to.flatMap(({ ipBlock = [] }) => ipBlock));
    expect(NOT_PUBLIC.filter((address) => isAllowed(address, blocks))).to.deep.equal([]);
    expect(PUBLIC.filter((address) => !isAllowed(address, blocks))).to.deep.equal([]);
  });

  for (const component of [
    "network-policies-dev",
    "network-policies-otlp",
    "network-policies-mail",
    "network-policies-webhooks",
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
