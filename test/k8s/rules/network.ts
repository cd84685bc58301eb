import { type Manifest, type NetworkPolicy, ofKind, one, type Pods, podsOf, portOf, selects } from "../manifests.ts";
import { pathsInside, pathsOutside } from "../network-paths.ts";
import { faultIf, remove, type Rule } from "../rule.ts";

/** What talks to what in the namespace. A path counts only in overlays that have both of its pods. */
const INSIDE = [
  "onboarding → redis:6379",
  "onboarding → mongodb:27017",
  "mongodb-initiate → mongodb:27017",
  "mongodb → mongodb:27017",
];
const FROM_OUTSIDE = ["ingress-nginx → onboarding:8080", "monitoring → onboarding:9090"];
const TO_STORES = [6379, 6380, 26379, 27017].map((port) => `onboarding → anywhere:${port}`);
const TO_COLLECTOR = [4318, 4317].map((port) => `onboarding → monitoring:${port}`);
const TO_MAIL = [587, 465].map((port) => `onboarding → anywhere:${port}`);
const toDns = ({ name }: Pods) => `${name} → kube-system/kube-dns:53`;

const namesIn = (path: string) => path.split(/ → |:/, 2);
const policy = (all: Manifest[], name: string) => one("NetworkPolicy", all, name).spec;

function differences(found: readonly string[], expected: readonly string[]): string[] {
  return [
    ...expected.filter((path) => !found.includes(path)).map((path) => `not allowed: ${path}`),
    ...found.filter((path) => !expected.includes(path)).map((path) => `allowed: ${path}`),
  ];
}

function deniesAll({ podSelector, policyTypes, ingress = [], egress = [] }: NetworkPolicy): boolean {
  return (
    Object.keys(podSelector).length === 0 &&
    ["Ingress", "Egress"].every((type) => policyTypes?.includes(type as "Ingress")) &&
    ingress.length + egress.length === 0
  );
}

function deadEnds({ podSelector, ingress = [], egress = [] }: NetworkPolicy, all: readonly Pods[]): string[] {
  const selected = all.filter(({ labels }) => selects(podSelector, labels));
  const ports = ingress.flatMap(({ ports = [] }) => ports.map(({ port }) => port));
  const own = [...ingress.flatMap(({ from = [] }) => from), ...egress.flatMap(({ to = [] }) => to)].filter(
    ({ namespaceSelector, ipBlock }) => namespaceSelector === undefined && ipBlock === undefined,
  );
  return [
    ...faultIf(selected.length === 0, "selects no pods"),
    ...selected.flatMap((pods) =>
      ports.filter((port) => portOf(pods, port) === undefined).map((port) => `${pods.name} has no port ${port}`),
    ),
    ...own
      .filter((peer) => !all.some(({ labels }) => selects(peer.podSelector, labels)))
      .map((peer) => `there are no pods ${JSON.stringify(peer.podSelector?.matchLabels)}`),
  ];
}

/** Policies are opt-in, so a build without any breaks no rule of theirs. */
function withPolicies(check: (policies: NetworkPolicy[], all: Pods[]) => string[]): Rule["faults"] {
  return (manifests) => {
    const policies = ofKind("NetworkPolicy", manifests).map(({ spec }) => spec);
    return policies.length === 0 ? [] : check(policies, podsOf(manifests));
  };
}

export const networkRules: Rule[] = [
  {
    title: "network policies deny everything first",
    faults: withPolicies((policies) => faultIf(!policies.some(deniesAll), "no policy denies all")),
    broken: [
      {
        title: "no such policy",
        breaks: (all) => remove(all, ({ metadata }) => metadata.name === "deny-all"),
        fault: /no policy denies all/,
      },
      {
        title: "one for incoming connections only",
        breaks: (all) => (policy(all, "deny-all").policyTypes = ["Ingress"]),
        fault: /no policy denies all/,
      },
      {
        title: "one for some pods",
        breaks: (all) => (policy(all, "deny-all").podSelector = { matchLabels: { app: "onboarding" } }),
        fault: /no policy denies all/,
      },
      {
        title: "one that allows everything",
        breaks: (all) => (policy(all, "deny-all").ingress = [{}]),
        fault: /no policy denies all/,
      },
    ],
  },
  {
    title: "every network policy selects pods, peers and ports that exist",
    faults: (manifests) =>
      ofKind("NetworkPolicy", manifests).flatMap(({ metadata, spec }) =>
        deadEnds(spec, podsOf(manifests)).map((fault) => `NetworkPolicy/${metadata.name}: ${fault}`),
      ),
    broken: [
      {
        title: "pods that do not exist",
        breaks: (all) =>
          (policy(all, "allow-api-from-ingress").podSelector.matchLabels!["app.kubernetes.io/component"] = "web"),
        fault: /allow-api-from-ingress: selects no pods/,
      },
      {
        title: "a port that does not exist",
        breaks: (all) => (policy(all, "allow-ops-from-monitoring").ingress![0]!.ports![0]!.port = "metrics"),
        fault: /onboarding has no port metrics/,
      },
      {
        title: "peers that do not exist",
        in: "dev",
        breaks: (all) =>
          (policy(all, "allow-redis-from-api").ingress![0]!.from![0]!.podSelector = { matchLabels: { app: "api" } }),
        fault: /allow-redis-from-api: there are no pods .*"app":"api"/,
      },
    ],
  },
  {
    title: "network policies allow exactly the paths between the pods that are needed",
    faults: withPolicies((policies, all) => {
      const names = all.map(({ name }) => name);
      const expected = INSIDE.filter((path) => namesIn(path).every((name) => names.includes(name)));
      return differences(pathsInside(policies, all), expected);
    }),
    broken: [
      {
        title: "Redis may not be reached",
        in: "dev",
        breaks: (all) => remove(all, ({ metadata }) => metadata.name === "allow-redis-from-api"),
        fault: /not allowed: onboarding → redis:6379/,
      },
      {
        title: "the service may not leave",
        in: "dev",
        breaks: (all) => remove(all, ({ metadata }) => metadata.name === "allow-redis"),
        fault: /not allowed: onboarding → redis:6379/,
      },
      {
        title: "MongoDB on another port",
        in: "dev",
        breaks: (all) => (policy(all, "allow-mongodb").egress![0]!.ports![0]!.port = 27018),
        fault: /not allowed: onboarding → mongodb:27017/,
      },
      {
        title: "everybody may reach Redis, and everybody may leave",
        in: "dev",
        breaks(all) {
          delete policy(all, "allow-redis-from-api").ingress![0]!.from;
          policy(all, "allow-dns").egress!.push({});
        },
        fault: /^allowed: mongodb → redis:6379/,
      },
    ],
  },
  {
    title: "network policies allow exactly the paths from and to outside that are needed",
    faults: withPolicies((policies, all) => {
      const found = [...new Set(pathsOutside(policies, all))];
      const optional = [...TO_COLLECTOR, ...TO_MAIL].filter((path) => found.includes(path));
      return differences(found, [...FROM_OUTSIDE, ...TO_STORES, ...all.map(toDns), ...optional]);
    }),
    broken: [
      {
        title: "the Ingress controller reaches the ops port",
        breaks: (all) => (policy(all, "allow-api-from-ingress").ingress![0]!.ports![0]!.port = "ops"),
        fault: /^allowed: ingress-nginx → onboarding:9090/,
      },
      {
        title: "any namespace reaches the API",
        breaks: (all) => (policy(all, "allow-api-from-ingress").ingress![0]!.from = [{ namespaceSelector: {} }]),
        fault: /^allowed: any namespace → onboarding:8080/,
      },
      {
        title: "everybody reaches every port",
        breaks: (all) => policy(all, "allow-api-from-ingress").ingress!.push({}),
        fault: /^allowed: anywhere → onboarding:\*/,
      },
      {
        title: "no names",
        breaks: (all) => remove(all, ({ metadata }) => metadata.name === "allow-dns"),
        fault: /not allowed: onboarding → kube-system\/kube-dns:53/,
      },
      {
        title: "MongoDB leaves for anywhere",
        in: "dev",
        breaks: (all) => (policy(all, "allow-redis").podSelector = {}),
        fault: /^allowed: mongodb → anywhere:6379/,
      },
    ],
  },
];
