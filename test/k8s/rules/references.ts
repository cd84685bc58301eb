import { api, type Manifest, ofKind, one, podsOf, portOf, selects, service } from "../manifests.ts";
import { faultIf, remove, type Rule } from "../rule.ts";

const WORKLOADS = ["Deployment", "StatefulSet"] as const;
const RECOMMENDED = ["app.kubernetes.io/name", "app.kubernetes.io/part-of", "app.kubernetes.io/version"];
/** Kinds that are in no namespace. */
const CLUSTER_WIDE = ["Namespace"];
const PSS = "pod-security.kubernetes.io/enforce";
const OF_THE_BASE = [
  "Deployment/onboarding",
  "Service/onboarding",
  "Service/onboarding-ops",
  "ServiceAccount/onboarding",
  "PodDisruptionBudget/onboarding",
];

function isOverlay(manifests: readonly Manifest[]): boolean {
  return manifests.some(({ kind }) => kind === "Namespace");
}

function nameOf({ kind, metadata }: Manifest): string {
  return `${kind}/${metadata.name}`;
}

export const referenceRules: Rule[] = [
  {
    title: "selectors match the labels of exactly the pods that they mean",
    faults: (manifests) => [
      ...WORKLOADS.flatMap((kind) =>
        ofKind(kind, manifests).flatMap(({ metadata, spec: { selector, template } }) => {
          const labels = selector?.matchLabels ?? {};
          const others = podsOf(manifests).filter((pods) => selects(selector, pods.labels));
          return [
            ...faultIf(Object.keys(labels).length === 0, `${kind}/${metadata.name} selects everything`),
            ...faultIf(
              !selects(selector, template.metadata.labels ?? {}),
              `${kind}/${metadata.name}: not its own pods`,
            ),
            ...faultIf(others.length > 1, `${kind}/${metadata.name} selects others' pods`),
          ];
        }),
      ),
      ...ofKind("Service", manifests).flatMap(({ metadata, spec }) => {
        const selected = podsOf(manifests).filter(({ labels }) =>
          selects({ matchLabels: spec.selector ?? {} }, labels),
        );
        return [
          ...faultIf(
            selected.length !== 1,
            `Service/${metadata.name} selects the pods of ${selected.length} workloads`,
          ),
          ...selected.flatMap((pods) =>
            spec.ports.flatMap(({ port, targetPort = port }) =>
              faultIf(portOf(pods, targetPort) === undefined, `Service/${metadata.name}: no port ${targetPort}`),
            ),
          ),
        ];
      }),
      ...ofKind("ServiceMonitor", manifests).flatMap(({ metadata, spec }) => {
        const services = ofKind("Service", manifests).filter((one) =>
          selects(spec.selector, one.metadata.labels ?? {}),
        );
        return (spec.endpoints ?? []).flatMap(({ port }) => {
          const named = services.filter((one) => one.spec.ports.some(({ name }) => name === port));
          return faultIf(named.length !== 1, `ServiceMonitor/${metadata.name}: ${named.length} Services for ${port}`);
        });
      }),
    ],
    broken: [
      {
        title: "a Deployment that does not find its pods",
        breaks: (all) => (service(all).spec.selector!.matchLabels!["app.kubernetes.io/name"] = "service"),
        fault: /Deployment\/onboarding: not its own pods/,
      },
      {
        title: "a Deployment without a selector",
        breaks: (all) => (service(all).spec.selector = {}),
        fault: /selects everything/,
      },
      {
        title: "a Deployment that takes Redis's pods for its own",
        in: "dev",
        breaks: (all) =>
          (service(all).spec.selector = {
            matchLabels: { "app.kubernetes.io/part-of": "candidate-onboarding-service" },
          }),
        fault: /selects others' pods/,
      },
      {
        title: "a Service that selects nothing",
        breaks: (all) => (one("Service", all, "onboarding").spec.selector!["app.kubernetes.io/component"] = "web"),
        fault: /Service\/onboarding selects the pods of 0/,
      },
      {
        title: "a Service that selects Redis too",
        in: "dev",
        breaks: (all) => (one("Service", all, "onboarding").spec.selector = {}),
        fault: /Service\/onboarding selects the pods of 4/,
      },
      {
        title: "a Service to a port that no pod has",
        breaks: (all) => (one("Service", all, "onboarding").spec.ports[0]!.targetPort = "http"),
        fault: /Service\/onboarding: no port http/,
      },
      {
        title: "a ServiceMonitor of a port that no Service has",
        breaks: (all) =>
          all.push({
            apiVersion: "monitoring.coreos.com/v1",
            kind: "ServiceMonitor",
            metadata: { name: "made-up" },
            spec: { selector: {}, endpoints: [{ port: "metrics" }] },
          }),
        fault: /ServiceMonitor\/made-up: 0 Services for metrics/,
      },
    ],
  },
  {
    title: "the Service of the API publishes the API alone",
    faults: (manifests) =>
      one("Service", manifests, "onboarding").spec.ports.flatMap(({ targetPort }) =>
        faultIf(targetPort !== "api", `Service/onboarding publishes ${targetPort}`),
      ),
    broken: [
      {
        title: "the ops port beside it",
        breaks: (all) =>
          one("Service", all, "onboarding").spec.ports.push({ name: "ops", port: 9090, targetPort: "ops" }),
        fault: /publishes ops/,
      },
    ],
  },
  {
    title: "every ConfigMap that is named is there",
    faults: (manifests) => {
      const maps = manifests.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
      const used = (api(manifests).envFrom ?? []).map(({ configMapRef }) => configMapRef?.name ?? "");
      return [
        ...faultIf(used.length === 0, "the service reads no ConfigMap"),
        ...used.flatMap((name) => faultIf(!maps.includes(name), `ConfigMap/${name} is not here`)),
      ];
    },
    broken: [
      { title: "none", breaks: (all) => delete api(all).envFrom, fault: /reads no ConfigMap/ },
      {
        title: "another name",
        breaks: (all) => (api(all).envFrom![0]!.configMapRef!.name = "settings"),
        fault: /ConfigMap\/settings is not here/,
      },
    ],
  },
  {
    title: "everything is in the overlay's namespace, which enforces the restricted Pod Security Standard",
    faults(manifests) {
      if (!isOverlay(manifests)) return [];
      const [namespace, ...more] = manifests.filter(({ kind }) => kind === "Namespace");
      return [
        ...faultIf(more.length > 0, "more than one namespace"),
        ...faultIf(namespace?.metadata.labels?.[PSS] !== "restricted", `${PSS} is not restricted`),
        ...manifests
          .filter(({ kind }) => !CLUSTER_WIDE.includes(kind))
          .filter(({ metadata }) => metadata.namespace !== namespace?.metadata.name)
          .map(({ kind, metadata }) => `${kind}/${metadata.name} is in ${metadata.namespace ?? "no namespace"}`),
      ];
    },
    broken: [
      {
        title: "no label",
        breaks: (all) => delete all.find(({ kind }) => kind === "Namespace")!.metadata.labels,
        fault: /is not restricted/,
      },
      {
        title: "an object elsewhere",
        breaks: (all) => (service(all).metadata.namespace = "default"),
        fault: /Deployment\/onboarding is in default/,
      },
      {
        title: "an object that nobody placed",
        breaks: (all) => delete service(all).metadata.namespace,
        fault: /Deployment\/onboarding is in no namespace/,
      },
      {
        title: "two namespaces",
        breaks: (all) => all.push({ apiVersion: "v1", kind: "Namespace", metadata: { name: "other" } }),
        fault: /more than one/,
      },
    ],
  },
  {
    title: "pods have the recommended labels",
    faults: (manifests) =>
      podsOf(manifests).flatMap(({ owner, labels }) =>
        RECOMMENDED.flatMap((label) =>
          // The version of Redis or MongoDB is its image's tag.
          faultIf(
            labels[label] === undefined && (owner === "Deployment/onboarding" || !label.endsWith("version")),
            `${owner}: no ${label}`,
          ),
        ),
      ),
    broken: RECOMMENDED.map((label) => ({
      title: `no ${label}`,
      breaks: (all) => delete service(all).spec.template.metadata.labels![label],
      fault: new RegExp(`Deployment/onboarding: no ${label}`),
    })),
  },
  {
    title: "the Deployment, its Services, its ServiceAccount and its budget are there",
    faults: (manifests) =>
      OF_THE_BASE.flatMap((name) => faultIf(!manifests.some((one) => nameOf(one) === name), `no ${name}`)),
    broken: OF_THE_BASE.slice(1).map((name) => ({
      title: `no ${name}`,
      breaks: (all) => remove(all, (one) => nameOf(one) === name),
      fault: new RegExp(`no ${name}`),
    })),
  },
];
