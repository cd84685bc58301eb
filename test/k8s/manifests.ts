/** The parts of Kubernetes' objects that the rules read. The schemas of Kubernetes check the rest. */

export type Labels = Record<string, string>;

export interface Selector {
  matchLabels?: Labels;
}

export interface Probe {
  httpGet?: { path?: string; port: string | number };
  tcpSocket?: { port: string | number };
  exec?: { command: string[] };
  periodSeconds?: number;
  failureThreshold?: number;
}

export interface SecurityContext {
  runAsNonRoot?: boolean;
  runAsUser?: number;
  seccompProfile?: { type: string };
  allowPrivilegeEscalation?: boolean;
  readOnlyRootFilesystem?: boolean;
  privileged?: boolean;
  capabilities?: { drop?: string[]; add?: string[] };
}

export interface Container {
  name: string;
  image?: string;
  command?: string[];
  args?: string[];
  ports?: { name?: string; containerPort: number; hostPort?: number }[];
  env?: {
    name: string;
    value?: string;
    valueFrom?: { secretKeyRef?: { name: string; key: string; optional?: boolean } };
  }[];
  envFrom?: { configMapRef?: { name: string }; secretRef?: { name: string } }[];
  startupProbe?: Probe;
  livenessProbe?: Probe;
  readinessProbe?: Probe;
  lifecycle?: { preStop?: { sleep?: { seconds: number }; exec?: { command: string[] } } };
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: SecurityContext;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[];
  serviceAccountName?: string;
  automountServiceAccountToken?: boolean;
  terminationGracePeriodSeconds?: number;
  securityContext?: SecurityContext;
  topologySpreadConstraints?: { topologyKey: string; labelSelector?: Selector }[];
  hostNetwork?: boolean;
  hostPID?: boolean;
  hostIPC?: boolean;
  volumes?: Record<string, unknown>[];
}

export interface Workload {
  replicas?: number;
  selector?: Selector;
  strategy?: { type?: string; rollingUpdate?: { maxUnavailable?: number | string; maxSurge?: number | string } };
  template: { metadata: { labels?: Labels }; spec: PodSpec };
}

export interface PolicyPort {
  port: string | number;
  protocol?: string;
}

export interface Peer {
  podSelector?: Selector;
  namespaceSelector?: Selector;
  ipBlock?: { cidr: string };
}

export interface NetworkPolicy {
  podSelector: Selector;
  policyTypes?: ("Ingress" | "Egress")[];
  ingress?: { from?: Peer[]; ports?: PolicyPort[] }[];
  egress?: { to?: Peer[]; ports?: PolicyPort[] }[];
}

/** The `spec` of each kind that has one and that the rules read. */
export interface Specs {
  Deployment: Workload;
  StatefulSet: Workload;
  Job: Workload;
  Service: { selector?: Labels; ports: { name?: string; port: number; targetPort?: string | number }[] };
  HorizontalPodAutoscaler: {
    scaleTargetRef: { kind: string; name: string };
    minReplicas?: number;
    maxReplicas: number;
    metrics?: { resource?: { name: string } }[];
  };
  PodDisruptionBudget: { minAvailable?: number | string; maxUnavailable?: number | string; selector: Selector };
  NetworkPolicy: NetworkPolicy;
  ServiceMonitor: { selector?: Selector; endpoints?: { port?: string }[] };
  PrometheusRule: { groups?: { name?: string; rules?: { alert?: string; record?: string; expr?: string }[] }[] };
}

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Labels };
  spec?: unknown;
  /** Of a ConfigMap or a Secret (base64). */
  data?: Record<string, string>;
  stringData?: Record<string, string>;
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

/** A Deployment, StatefulSet or Job, with its pod. */
export interface Pods {
  /** For example Deployment/onboarding. */
  readonly owner: string;
  readonly kind: "Deployment" | "StatefulSet" | "Job";
  readonly name: string;
  readonly labels: Labels;
  readonly spec: PodSpec;
  readonly containers: readonly Container[];
}

const OWNERS = ["Deployment", "StatefulSet", "Job"] as const;

export function podsOf(manifests: readonly Manifest[]): Pods[] {
  return OWNERS.flatMap((kind) =>
    ofKind(kind, manifests).map(({ metadata: { name }, spec: { template } }) => ({
      owner: `${kind}/${name}`,
      kind,
      name,
      labels: template.metadata.labels ?? {},
      spec: template.spec,
      containers: [...template.spec.containers, ...(template.spec.initContainers ?? [])],
    })),
  );
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

/** The one container of the service itself. */
export function api(manifests: readonly Manifest[]): Container {
  const [container] = service(manifests).spec.template.spec.containers;
  if (container === undefined) throw new Error("The Deployment has no container.");
  return container;
}

/** The ConfigMap with the service's settings. Its name ends with a hash. */
export function settings(manifests: readonly Manifest[]): Record<string, string> {
  const found = manifests.find(({ kind, metadata }) => kind === "ConfigMap" && /^settings(-|$)/.test(metadata.name));
  if (found?.data === undefined) throw new Error("There is no ConfigMap `settings`.");
  return found.data;
}
