/** The parts of Kubernetes' objects that the tests read. The schemas of Kubernetes check the rest. */

export type Labels = Record<string, string>;

export interface Selector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values: string[] }[];
}

export interface Probe {
  httpGet?: { path?: string; port: string | number };
  periodSeconds?: number;
  failureThreshold?: number;
}

export interface Container {
  name: string;
  image?: string;
  args?: string[];
  ports?: { name?: string; containerPort: number; hostPort?: number }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean } };
  }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number } } };
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: object;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: { runAsUser?: number };
  topologySpreadConstraints?: { topologyKey: string; labelSelector?: Selector }[];
  volumes?: { name: string; configMap?: { name: string; items?: { key: string; path: string }[] } }[];
  priorityClassName?: string;
}

export interface Workload {
  replicas?: number;
  selector?: Selector;
  strategy?: { rollingUpdate?: { maxSurge?: number | string } };
  template: { metadata: { labels?: Labels }; spec: PodSpec };
}

export interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string; except?: string[] };
}

export interface NetworkPolicy {
  podSelector: Selector;
  policyTypes: string[];
  ingress?: { from?: Peer[]; ports?: { port: string | number }[] }[];
  egress?: { to?: Peer[]; ports?: { port: string | number }[] }[];
}

export interface Reference {
  kind?: string;
  name: string;
}

interface Backend {
  name: string;
  port: { name: string };
}

/** The `spec` of each kind that has one and that the tests read. */
export interface Specs {
  Deployment: Workload;
  StatefulSet: Workload;
  Job: Workload;
  CronJob: { schedule: string; concurrencyPolicy?: string; jobTemplate: { spec: Workload } };
  Service: {
    selector?: Labels;
    ports: { name?: string; port: number; targetPort?: string | number }[];
    ipFamilies?: string[];
    ipFamilyPolicy?: string;
  };
  HorizontalPodAutoscaler: {
    scaleTargetRef: { kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: {
      resource?: { name: string };
      pods?: { metric: { name: string }; target: { averageValue: string } };
    }[];
  };
  PodDisruptionBudget: { minAvailable?: number | string; maxUnavailable?: number | string; selector: Selector };
  NetworkPolicy: NetworkPolicy;
  ServiceMonitor: { selector?: Selector; endpoints?: { port?: string }[]; jobLabel?: string };
  PrometheusRule: { groups: { rules: { alert?: string; annotations?: Record<string, string> }[] }[] };
  Ingress: {
    tls?: { hosts: string[]; secretName: string }[];
    rules: { host: string; http: { paths: { path: string; backend: { service: Backend } }[] } }[];
  };
  Gateway: { listeners: { name: string; hostname?: string }[]; infrastructure?: { parametersRef?: Reference } };
  HTTPRoute: {
    parentRefs: (Reference & { sectionName?: string })[];
    hostnames: string[];
    rules: { matches?: object[]; backendRefs: { name: string; port: number }[]; timeouts?: { request?: string } }[];
  };
  EnvoyProxy: { telemetry: { accessLog: { settings: { matches?: string[] }[] } } };
  ClientTrafficPolicy: { targetRefs: Reference[]; timeout: { http: Record<string, string> } };
  BackendTrafficPolicy: { targetRefs: Reference[]; timeout: { http: Record<string, string> } };
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels; annotations?: Record<string, string> };
  spec?: unknown;
  /** Of a ConfigMap or a Secret (base64). */
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  /** Of a PriorityClass. */
  value?: number;
  /** Of a ServiceAccount. */
  automountServiceAccountToken?: boolean;
}

export interface Named<Spec> extends Manifest {
  spec: Spec;
}

/** Returns the objects of one kind. */
export function ofKind<Kind extends keyof Specs>(kind: Kind, manifests: readonly Manifest[]): Named<Specs[Kind]>[] {
  return manifests.filter((manifest) => manifest.kind === kind) as Named<Specs[Kind]>[];
}

/** Returns the first object of a kind, or the one of that name. @throws if there is none. */
export function one<Kind extends keyof Specs>(
  kind: Kind,
  manifests: readonly Manifest[],
  name?: string,
): Named<Specs[Kind]> {
  const found = ofKind(kind, manifests).find((manifest) => name === undefined || manifest.metadata.name === name);
  if (found === undefined) throw new Error(`There is no ${kind}${name === undefined ? "" : ` ${name}`}.`);
  return found;
}

/** A Deployment, StatefulSet, Job or CronJob, with its pod. */
export interface Pods {
  /** For example Deployment/onboarding. */
  readonly owner: string;
  readonly name: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  readonly containers: readonly Container[];
}

const OWNERS = ["Deployment", "StatefulSet", "Job"] as const;

export function podsOf(manifests: readonly Manifest[]): Pods[] {
  const podOf = (kind: string, name: string, { template }: Workload): Pods => ({
    owner: `${kind}/${name}`,
    name,
    labels: template.metadata.labels ?? {},
    spec: template.spec,
    containers: [...template.spec.containers, ...(template.spec.initContainers ?? [])],
  });
  return [
    ...OWNERS.flatMap((kind) => ofKind(kind, manifests).map(({ metadata, spec }) => podOf(kind, metadata.name, spec))),
    ...ofKind("CronJob", manifests).map(({ metadata, spec }) => podOf("CronJob", metadata.name, spec.jobTemplate.spec)),
  ];
}

/** An empty selector selects everything, as in Kubernetes. */
export function selects(selector: Selector | undefined, labels: Labels): boolean {
  return Object.entries(selector?.matchLabels ?? {}).every(([name, value]) => labels[name] === value);
}

/** Returns the number of a pod's port by its name or number; undefined if no container declares it. */
export function portOf(pods: Pods, port: string | number): number | undefined {
  return pods.containers
    .flatMap((container) => container.ports ?? [])
    .find(({ name, containerPort }) => name === port || containerPort === port)?.containerPort;
}

/** The Deployment of the service itself. */
export function service(manifests: readonly Manifest[]): Named<Workload> {
  return one("Deployment", manifests, "onboarding");
}

/** The autoscaler of the service; undefined if the Deployment itself says how many replicas there are. */
export function autoscaler(manifests: readonly Manifest[]): Specs["HorizontalPodAutoscaler"] | undefined {
  return ofKind("HorizontalPodAutoscaler", manifests)[0]?.spec;
}

/** The one container of the service itself. */
export function api(manifests: readonly Manifest[]): Container {
  const [container] = service(manifests).spec.template.spec.containers;
  if (container === undefined) throw new Error("The Deployment has no container.");
  return container;
}

/** The ConfigMap with the service's settings. Its name ends with a hash. */
export function settingsMap(manifests: readonly Manifest[]): Manifest {
  const found = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && /^settings(-|$)/.test(metadata.name));
  if (found === undefined) throw new Error("There is no ConfigMap `settings`.");
  return found;
}

export function settings(manifests: readonly Manifest[]): Record<string, string> {
  return settingsMap(manifests).data ?? {};
}

/** The factor of each suffix of a quantity. */
const UNITS: Record<string, number> = { "": 1, m: 0.001, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };

/** Returns the number that a quantity such as 500m or 2Gi stands for; NaN if it is none. */
export function amount(quantity: string | undefined): number {
  const [, digits, unit = ""] = /^([\d.]+)([a-zA-Z]*)$/.exec(quantity ?? "") ?? [];
  return Number(digits) * (UNITS[unit] ?? NaN);
}
