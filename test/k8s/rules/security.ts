import { api, type Container, type Manifest, one, type Pods, podsOf, service, type Workload } from "../manifests.ts";
import { type Breakage, faultIf, type Rule } from "../rule.ts";

/** The types of volumes that the restricted Pod Security Standard allows. */
const VOLUMES = [
  "configMap",
  "csi",
  "downwardAPI",
  "emptyDir",
  "ephemeral",
  "persistentVolumeClaim",
  "projected",
  "secret",
];
const SECCOMP = ["RuntimeDefault", "Localhost"];

/** Checks the restricted Pod Security Standard. The read-only root file system is our own addition. */
function podFaults({ owner, spec, containers }: Pods): string[] {
  const { securityContext: context } = spec;
  return [
    ...faultIf(context?.runAsNonRoot !== true, "runAsNonRoot is not set"),
    ...faultIf(!((context?.runAsUser ?? 0) > 0), "runAsUser is no number above 0"),
    ...faultIf(!SECCOMP.includes(context?.seccompProfile?.type ?? ""), "no seccomp profile"),
    ...faultIf((spec.hostNetwork ?? spec.hostPID ?? spec.hostIPC) !== undefined, "a namespace of the host"),
    ...(spec.volumes ?? []).flatMap((volume) => {
      const type = Object.keys(volume).find((name) => name !== "name") ?? "";
      return faultIf(!VOLUMES.includes(type), `a volume of type ${type}`);
    }),
    ...containers.flatMap(containerFaults),
  ].map((fault) => `${owner}: ${fault}`);
}

function containerFaults({ ports = [], securityContext: context }: Container): string[] {
  return [
    ...faultIf(context?.allowPrivilegeEscalation !== false, "allowPrivilegeEscalation is not false"),
    ...faultIf(context?.readOnlyRootFilesystem !== true, "the root file system can be written"),
    ...faultIf(context?.privileged === true, "privileged"),
    ...faultIf(context?.capabilities?.drop?.includes("ALL") !== true, "capabilities are not dropped"),
    ...faultIf((context?.capabilities?.add ?? []).length > 0, "capabilities are added"),
    ...faultIf(context?.runAsNonRoot === false || context?.runAsUser === 0, "a container runs as root"),
    ...faultIf(!SECCOMP.includes(context?.seccompProfile?.type ?? "RuntimeDefault"), "no seccomp profile"),
    ...faultIf(
      ports.some(({ hostPort }) => hostPort !== undefined),
      "a port of the host",
    ),
  ];
}

const pod = (all: Manifest[]) => service(all).spec.template.spec;
const podContext = (all: Manifest[]) => (pod(all).securityContext ??= {});
const context = (all: Manifest[]) => (api(all).securityContext ??= {});
const firstContext = ({ spec }: { spec: Workload }) => (spec.template.spec.containers[0]!.securityContext ??= {});

const BROKEN_PODS: [title: string, breaks: (all: Manifest[]) => void, fault: RegExp][] = [
  ["no security context", (all) => delete pod(all).securityContext, /runAsNonRoot is not set/],
  ["runAsNonRoot missing", (all) => delete podContext(all).runAsNonRoot, /runAsNonRoot is not set/],
  ["no numeric user", (all) => delete podContext(all).runAsUser, /no number above 0/],
  ["root", (all) => (podContext(all).runAsUser = 0), /no number above 0/],
  ["no seccomp", (all) => delete podContext(all).seccompProfile, /no seccomp/],
  ["seccomp unconfined", (all) => (podContext(all).seccompProfile = { type: "Unconfined" }), /no seccomp/],
  ["the host's network", (all) => (pod(all).hostNetwork = true), /namespace of the host/],
  ["the host's processes", (all) => (pod(all).hostPID = true), /namespace of the host/],
  ["a folder of the host", (all) => (pod(all).volumes = [{ name: "v", hostPath: { path: "/" } }]), /type hostPath/],
  ["escalation", (all) => delete context(all).allowPrivilegeEscalation, /allowPrivilegeEscalation/],
  ["a writable root", (all) => delete context(all).readOnlyRootFilesystem, /can be written/],
  ["privileged", (all) => (context(all).privileged = true), /privileged$/],
  ["capabilities kept", (all) => delete context(all).capabilities, /not dropped/],
  ["one capability dropped", (all) => (context(all).capabilities = { drop: ["NET_RAW"] }), /not dropped/],
  ["one added", (all) => (context(all).capabilities = { drop: ["ALL"], add: ["SYS_ADMIN"] }), /are added/],
  ["a container that is root", (all) => (context(all).runAsUser = 0), /runs as root/],
  ["a container unconfined", (all) => (context(all).seccompProfile = { type: "Unconfined" }), /no seccomp/],
  ["a port of the host", (all) => (api(all).ports = [{ containerPort: 8080, hostPort: 80 }]), /port of the host/],
  [
    "an init container",
    (all) => (pod(all).initContainers = [{ name: "init", image: "busybox:1.36" }]),
    /allowPrivilegeEscalation/,
  ],
];

const OTHERS: Breakage[] = (["StatefulSet", "Job"] as const).map((kind) => ({
  title: `a ${kind}'s container`,
  in: "dev",
  breaks: (all) => (firstContext(one(kind, all)).readOnlyRootFilesystem = false),
  fault: new RegExp(`${kind}/.*can be written`),
}));

export const securityRules: Rule[] = [
  {
    title: "every pod keeps the restricted Pod Security Standard, and its root file system is read-only",
    faults: (manifests) => podsOf(manifests).flatMap(podFaults),
    broken: [...BROKEN_PODS.map(([title, breaks, fault]) => ({ title, breaks, fault })), ...OTHERS],
  },
  {
    title: "no pod gets a token of Kubernetes, and the service has an account of its own",
    faults(manifests) {
      const accounts = manifests.filter(({ kind }) => kind === "ServiceAccount");
      const { serviceAccountName } = service(manifests).spec.template.spec;
      return [
        ...podsOf(manifests).flatMap(({ owner, spec }) =>
          faultIf(spec.automountServiceAccountToken !== false, `${owner} mounts a token`),
        ),
        ...accounts.flatMap(({ metadata, automountServiceAccountToken }) =>
          faultIf(automountServiceAccountToken !== false, `ServiceAccount/${metadata.name} gives tokens`),
        ),
        ...faultIf(
          !accounts.some(({ metadata }) => metadata.name === serviceAccountName),
          `the service's account ${serviceAccountName} is not here`,
        ),
      ];
    },
    broken: [
      {
        title: "a pod that leaves it open",
        breaks: (all) => delete pod(all).automountServiceAccountToken,
        fault: /Deployment\/onboarding mounts a token/,
      },
      {
        title: "the pod of the Job",
        in: "dev",
        breaks: (all) => (one("Job", all).spec.template.spec.automountServiceAccountToken = true),
        fault: /Job\/mongodb-initiate mounts a token/,
      },
      {
        title: "an account that gives tokens",
        breaks: (all) => {
          for (const manifest of all)
            if (manifest.kind === "ServiceAccount") delete manifest.automountServiceAccountToken;
        },
        fault: /gives tokens/,
      },
      { title: "the default account", breaks: (all) => delete pod(all).serviceAccountName, fault: /is not here/ },
    ],
  },
];
