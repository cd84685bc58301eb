import {
  api,
  type Manifest,
  type Named,
  ofKind,
  one,
  selects,
  service,
  type Specs,
  type Workload,
} from "../manifests.ts";
import { faultIf, remove, type Rule } from "../rule.ts";

const ZONE = "topology.kubernetes.io/zone";
const HOST = "kubernetes.io/hostname";

function autoscalerOf(deployment: Named<Workload>, manifests: readonly Manifest[]) {
  return ofKind("HorizontalPodAutoscaler", manifests).find(
    ({ spec: { scaleTargetRef: target } }) => target.kind === "Deployment" && target.name === deployment.metadata.name,
  );
}

/** The fewest replicas that the Deployment has when nothing is wrong. */
export function fewestReplicas(manifests: readonly Manifest[]): number {
  return autoscalerOf(service(manifests), manifests)?.spec.minReplicas ?? service(manifests).spec.replicas ?? 1;
}

/** The most replicas that there can be, with those that a rolling update adds. */
export function mostReplicas(manifests: readonly Manifest[]): number {
  const { spec } = service(manifests);
  const surge = Number(spec.strategy?.rollingUpdate?.maxSurge ?? 1);
  return (autoscalerOf(service(manifests), manifests)?.spec.maxReplicas ?? spec.replicas ?? 1) + surge;
}

/** Returns how many pods may be evicted at once, of `replicas` that are all ready. Kubernetes rounds percentages up. */
function allowed({ minAvailable, maxUnavailable }: Specs["PodDisruptionBudget"], replicas: number): number {
  const count = (value: number | string) =>
    typeof value === "number" ? value : Math.ceil((Number.parseFloat(value) / 100) * replicas);
  return minAvailable === undefined ? count(maxUnavailable ?? 0) : replicas - count(minAvailable);
}

const rolling = (all: Manifest[]) => (service(all).spec.strategy!.rollingUpdate ??= {});
const budget = (all: Manifest[]) => one("PodDisruptionBudget", all).spec;
const autoscaler = (all: Manifest[]) => one("HorizontalPodAutoscaler", all).spec;

export const scalingRules: Rule[] = [
  {
    title: "a rolling update never has fewer replicas than before",
    faults(manifests) {
      const { strategy } = service(manifests).spec;
      return [
        ...faultIf(strategy?.type !== "RollingUpdate", `the strategy is ${strategy?.type}`),
        ...faultIf(strategy?.rollingUpdate?.maxUnavailable !== 0, "maxUnavailable is not 0"),
        ...faultIf(!(Number(strategy?.rollingUpdate?.maxSurge) >= 1), "maxSurge is not 1 or more"),
      ];
    },
    broken: [
      {
        title: "Recreate",
        breaks: (all) => (service(all).spec.strategy = { type: "Recreate" }),
        fault: /strategy is Recreate/,
      },
      { title: "the default", breaks: (all) => delete rolling(all).maxUnavailable, fault: /maxUnavailable/ },
      { title: "one less", breaks: (all) => (rolling(all).maxUnavailable = 1), fault: /maxUnavailable/ },
      { title: "a share less", breaks: (all) => (rolling(all).maxUnavailable = "25%"), fault: /maxUnavailable/ },
      { title: "no surge", breaks: (all) => (rolling(all).maxSurge = 0), fault: /maxSurge/ },
    ],
  },
  {
    title: "two replicas or more, set either by the autoscaler, which needs CPU requests, or in the Deployment",
    faults(manifests) {
      const { replicas } = service(manifests).spec;
      const scaler = autoscalerOf(service(manifests), manifests);
      const orphans = ofKind("HorizontalPodAutoscaler", manifests).filter((one) => one !== scaler);
      return [
        ...faultIf(fewestReplicas(manifests) < 2, "fewer than 2 replicas"),
        ...faultIf(orphans.length > 0, "an autoscaler scales nothing"),
        ...faultIf(scaler !== undefined && replicas !== undefined, "the Deployment and the autoscaler set replicas"),
        ...faultIf(scaler !== undefined && !(scaler.spec.maxReplicas > fewestReplicas(manifests)), "cannot scale"),
        ...(scaler?.spec.metrics ?? []).flatMap(({ resource: { name } = { name: "" } }) =>
          faultIf(api(manifests).resources?.requests?.[name] === undefined, `no request of ${name} to scale by`),
        ),
      ];
    },
    broken: [
      { title: "min 1", breaks: (all) => (autoscaler(all).minReplicas = 1), fault: /fewer than 2/ },
      { title: "no min", breaks: (all) => delete autoscaler(all).minReplicas, fault: /fewer than 2/ },
      { title: "max not above min", breaks: (all) => (autoscaler(all).maxReplicas = 4), fault: /cannot scale/ },
      { title: "both set it", breaks: (all) => (service(all).spec.replicas = 3), fault: /set replicas/ },
      {
        title: "an autoscaler of something else",
        breaks: (all) => (autoscaler(all).scaleTargetRef.name = "service"),
        fault: /scales nothing/,
      },
      {
        title: "no request",
        breaks: (all) => delete api(all).resources!.requests!["cpu"],
        fault: /no request of cpu to scale by/,
      },
      { title: "one replica", in: "dev", breaks: (all) => (service(all).spec.replicas = 1), fault: /fewer than 2/ },
    ],
  },
  {
    title: "a node can be drained: the disruption budget always lets one pod go, and never all",
    faults(manifests) {
      const { spec } = service(manifests);
      const budgets = ofKind("PodDisruptionBudget", manifests).filter(({ spec: { selector } }) =>
        selects(selector, spec.template.metadata.labels ?? {}),
      );
      return [
        ...faultIf(budgets.length !== 1, `${budgets.length} budgets select the service`),
        ...budgets.flatMap((one) => {
          const fewest = fewestReplicas(manifests);
          const room = allowed(one.spec, fewest);
          return [...faultIf(room < 1, "no pod may go"), ...faultIf(room >= fewest, "all pods may go at once")];
        }),
      ];
    },
    broken: [
      {
        title: "no budget",
        breaks: (all) => remove(all, ({ kind }) => kind === "PodDisruptionBudget"),
        fault: /0 budgets/,
      },
      {
        title: "a budget of other pods",
        breaks: (all) => (budget(all).selector.matchLabels!["app.kubernetes.io/component"] = "web"),
        fault: /0 budgets/,
      },
      { title: "none may go", breaks: (all) => (budget(all).maxUnavailable = 0), fault: /no pod may go/ },
      { title: "all must stay", breaks: (all) => (budget(all).minAvailable = 4), fault: /no pod may go/ },
      { title: "90 % must stay", breaks: (all) => (budget(all).minAvailable = "90%"), fault: /no pod may go/ },
      { title: "all may go", breaks: (all) => (budget(all).maxUnavailable = "100%"), fault: /all pods may go/ },
    ],
  },
  {
    title: "replicas are spread over zones and hosts",
    faults(manifests) {
      const { metadata, spec } = service(manifests).spec.template;
      return [ZONE, HOST].flatMap((key) => {
        const constraint = spec.topologySpreadConstraints?.find(({ topologyKey }) => topologyKey === key);
        const counts =
          constraint?.labelSelector !== undefined && selects(constraint.labelSelector, metadata.labels ?? {});
        return faultIf(!counts, `not spread by ${key}`);
      });
    },
    broken: [
      {
        title: "not at all",
        breaks: (all) => delete service(all).spec.template.spec.topologySpreadConstraints,
        fault: /zone/,
      },
      {
        title: "not over hosts",
        breaks: (all) => service(all).spec.template.spec.topologySpreadConstraints!.pop(),
        fault: /hostname/,
      },
      {
        title: "counting other pods",
        breaks: (all) => {
          const [zone] = service(all).spec.template.spec.topologySpreadConstraints!;
          zone!.labelSelector = { matchLabels: { app: "onboarding" } };
        },
        fault: /zone/,
      },
    ],
  },
];
