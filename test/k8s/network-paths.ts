import { type NetworkPolicy, type Peer, type PolicyPort, type Pods, portOf, selects } from "./manifests.ts";

/** A rule of one direction: `peers` and `ports` are undefined if there is no restriction. */
interface Allowance {
  readonly peers: readonly Peer[] | undefined;
  readonly ports: readonly PolicyPort[] | undefined;
}

type Direction = "Ingress" | "Egress";

/** Returns what the policies that select these pods allow in one direction; undefined if none of them restricts it. */
function allowances(
  policies: readonly NetworkPolicy[],
  pods: Pods,
  direction: Direction,
): readonly Allowance[] | undefined {
  const applied = policies.filter(
    ({ podSelector, policyTypes }) => selects(podSelector, pods.labels) && policyTypes?.includes(direction),
  );
  if (applied.length === 0) return undefined;
  return applied.flatMap(({ ingress = [], egress = [] }) =>
    direction === "Ingress"
      ? ingress.map(({ from: peers, ports }) => ({ peers, ports }))
      : egress.map(({ to: peers, ports }) => ({ peers, ports })),
  );
}

function allows(rules: readonly Allowance[] | undefined, peer: Pods, to: Pods, port: number): boolean {
  if (rules === undefined) return true;
  return rules.some(
    ({ peers, ports }) =>
      (peers?.some((one) => isOwn(one) && selects(one.podSelector, peer.labels)) ?? true) &&
      (ports?.some((one) => (portOf(to, one.port) ?? one.port) === port) ?? true),
  );
}

/** Returns whether a peer is in the policy's own namespace. */
function isOwn({ namespaceSelector, ipBlock }: Peer): boolean {
  return namespaceSelector === undefined && ipBlock === undefined;
}

/** Returns every connection between the pods that the policies allow, as `from → to:port`. */
export function pathsInside(policies: readonly NetworkPolicy[], all: readonly Pods[]): string[] {
  return all.flatMap((from) =>
    all.flatMap((to) =>
      to.containers
        .flatMap(({ ports = [] }) => ports.map(({ containerPort }) => containerPort))
        .filter((port) => allows(allowances(policies, from, "Egress"), to, to, port))
        .filter((port) => allows(allowances(policies, to, "Ingress"), from, to, port))
        .map((port) => `${from.name} → ${to.name}:${port}`),
    ),
  );
}

/** Returns every connection from or to outside of the namespace that the policies allow, in the same form. */
export function pathsOutside(policies: readonly NetworkPolicy[], all: readonly Pods[]): string[] {
  return all.flatMap((pods) =>
    (["Ingress", "Egress"] as const).flatMap((direction) => {
      const rules = allowances(policies, pods, direction) ?? [{ peers: undefined, ports: undefined }];
      return rules.flatMap(({ peers, ports }) => {
        const outside = peers?.filter((peer) => !isOwn(peer)).map(nameOf) ?? ["anywhere"];
        const numbers = ports?.map(({ port }) => (direction === "Ingress" ? (portOf(pods, port) ?? port) : port)) ?? [
          "*",
        ];
        return outside.flatMap((peer) =>
          numbers.map((port) =>
            direction === "Ingress" ? `${peer} → ${pods.name}:${port}` : `${pods.name} → ${peer}:${port}`,
          ),
        );
      });
    }),
  );
}

function nameOf({ namespaceSelector, podSelector, ipBlock }: Peer): string {
  if (ipBlock !== undefined) return ipBlock.cidr;
  const namespace = namespaceSelector?.matchLabels?.["kubernetes.io/metadata.name"] ?? "any namespace";
  const app = podSelector?.matchLabels?.["k8s-app"];
  return app === undefined ? namespace : `${namespace}/${app}`;
}
