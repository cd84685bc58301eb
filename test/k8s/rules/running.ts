import { SETTLE_WITHIN_MS } from "../../../src/candidates/watermarks.ts";
import { LONGEST_DRAIN_MS, MAX_LISTEN_MS } from "../../../src/process/drain.ts";
import { STOP_WITHIN_MS } from "../../../src/sweeps/runner.ts";
import { api, type Container, one, podsOf, type Probe, service, settings } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";

/** The longest that a replica takes to stop, in milliseconds. The last part is one store operation. */
const STOP_MS = LONGEST_DRAIN_MS + STOP_WITHIN_MS + SETTLE_WITHIN_MS + 5_000;

/** How long nodes and load balancers may take to learn that a pod has left the Service. */
const ENDPOINTS_SETTLE_SECONDS = 10;
/** The factor of each suffix of a quantity. */
const UNITS: Record<string, number> = { "": 1, m: 0.001, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30 };
const PROBES = { startupProbe: "/livez", livenessProbe: "/livez", readinessProbe: "/readyz" } as const;
type ProbeName = keyof typeof PROBES;
const PROBE_NAMES = Object.keys(PROBES) as ProbeName[];

function amount(quantity: string | undefined): number {
  const [, digits, unit = ""] = /^([\d.]+)([a-zA-Z]*)$/.exec(quantity ?? "") ?? [];
  return Number(digits) * (UNITS[unit] ?? NaN);
}

function resourceFaults({ name, resources }: Container): string[] {
  return ["cpu", "memory"].flatMap((resource) => {
    const [request, limit] = [resources?.requests?.[resource], resources?.limits?.[resource]].map(amount);
    return [
      ...faultIf(!(request! > 0), `${name}: no request of ${resource}`),
      ...faultIf(!(limit! > 0), `${name}: no limit of ${resource}`),
      ...faultIf(request! > limit!, `${name}: the request of ${resource} is above its limit`),
    ];
  });
}

function probeFault(name: ProbeName, probe: Probe | undefined): string[] {
  if (probe === undefined) return [`no ${name}`];
  return [
    ...faultIf(probe.httpGet?.port !== "ops", `${name} does not use the port \`ops\``),
    ...faultIf(probe.httpGet?.path !== PROBES[name], `${name} does not ask ${PROBES[name]}`),
  ];
}

export const runningRules: Rule[] = [
  {
    title: "every container requests and limits CPU and memory",
    faults: (manifests) => podsOf(manifests).flatMap(({ containers }) => containers.flatMap(resourceFaults)),
    broken: [
      { title: "none", breaks: (all) => delete api(all).resources, fault: /no request of cpu/ },
      {
        title: "no limit of memory",
        breaks: (all) => delete api(all).resources?.limits?.["memory"],
        fault: /no limit of memory/,
      },
      {
        title: "no request of CPU in a Job",
        in: "dev",
        breaks: (all) => delete one("Job", all).spec.template.spec.containers[0]?.resources?.requests?.["cpu"],
        fault: /initiate: no request of cpu/,
      },
      {
        title: "more requested than allowed",
        breaks: (all) => (api(all).resources!.requests!["memory"] = "3Gi"),
        fault: /memory is above/,
      },
      {
        title: "a unit that Kubernetes does not know",
        breaks: (all) => (api(all).resources!.limits!["memory"] = "2GB"),
        fault: /no limit of memory/,
      },
    ],
  },
  {
    title: "the service is probed on the ops port: /livez for startup and liveness, /readyz for readiness",
    faults: (manifests) => PROBE_NAMES.flatMap((name) => probeFault(name, api(manifests)[name])),
    broken: PROBE_NAMES.flatMap((name) => [
      { title: `no ${name}`, breaks: (all) => delete api(all)[name], fault: new RegExp(`no ${name}`) },
      {
        title: `${name} on the port of the API, by name`,
        breaks: (all) => (api(all)[name]!.httpGet!.port = "api"),
        fault: new RegExp(`${name} does not use the port`),
      },
      {
        title: `${name} on the port of the API, by number`,
        breaks: (all) => (api(all)[name]!.httpGet!.port = 8080),
        fault: new RegExp(`${name} does not use the port`),
      },
      {
        title: `${name} by TCP`,
        breaks: (all) => (api(all)[name] = { tcpSocket: { port: "ops" } }),
        fault: new RegExp(`${name} does not use the port`),
      },
      {
        title: `${name} with the other's path`,
        breaks: (all) => (api(all)[name]!.httpGet!.path = PROBES[name] === "/livez" ? "/readyz" : "/livez"),
        fault: new RegExp(`${name} does not ask`),
      },
    ]),
  },
  {
    title: "everything that keeps running is probed",
    faults: (manifests) =>
      podsOf(manifests)
        .filter(({ kind }) => kind !== "Job")
        .flatMap(({ owner, spec }) =>
          spec.containers.flatMap((container) =>
            PROBE_NAMES.flatMap((name) => faultIf(container[name] === undefined, `${owner}: no ${name}`)),
          ),
        ),
    broken: [
      {
        title: "no readiness of Redis",
        in: "dev",
        breaks: (all) => delete one("StatefulSet", all, "redis").spec.template.spec.containers[0]?.readinessProbe,
        fault: /StatefulSet\/redis: no readinessProbe/,
      },
    ],
  },
  {
    title: "the ports that the pods declare are those of the settings",
    faults: (manifests) =>
      Object.entries({ PORT: "api", OPS_PORT: "ops" }).flatMap(([setting, name]) => {
        const declared = api(manifests).ports?.find((port) => port.name === name)?.containerPort;
        return faultIf(`${declared}` !== settings(manifests)[setting], `port ${name} is not ${setting}`);
      }),
    broken: [
      { title: "another PORT", breaks: (all) => (settings(all)["PORT"] = "8081"), fault: /port api is not PORT/ },
      { title: "another OPS_PORT", breaks: (all) => (settings(all)["OPS_PORT"] = "1"), fault: /ops is not OPS_PORT/ },
      { title: "no port", breaks: (all) => delete api(all).ports, fault: /port api is not PORT/ },
    ],
  },
  {
    title: "preStop outlives the removal from the Service, and preStop and drain together fit the grace period",
    faults(manifests) {
      const grace = service(manifests).spec.template.spec.terminationGracePeriodSeconds ?? 30;
      const preStop = api(manifests).lifecycle?.preStop?.sleep?.seconds ?? 0;
      const drain = STOP_MS / 1000;
      return [
        ...faultIf(preStop < ENDPOINTS_SETTLE_SECONDS, `preStop sleeps for ${preStop} s`),
        ...faultIf(preStop + drain >= grace, `preStop ${preStop} s and drain ${drain} s do not fit ${grace} s`),
      ];
    },
    broken: [
      { title: "no preStop", breaks: (all) => delete api(all).lifecycle, fault: /sleeps for 0 s/ },
      {
        title: "a preStop that runs a shell, which the image need not have",
        breaks: (all) => (api(all).lifecycle = { preStop: { exec: { command: ["sleep", "15"] } } }),
        fault: /sleeps for 0 s/,
      },
      {
        title: "a short preStop",
        breaks: (all) => (api(all).lifecycle!.preStop!.sleep!.seconds = 1),
        fault: /sleeps for 1 s/,
      },
      {
        title: "a long preStop",
        breaks: (all) => (api(all).lifecycle!.preStop!.sleep!.seconds = 60),
        fault: /do not fit 75 s/,
      },
      {
        title: "Kubernetes' own grace period",
        breaks: (all) => delete service(all).spec.template.spec.terminationGracePeriodSeconds,
        fault: /do not fit 30 s/,
      },
      {
        title: "a grace period that is just as long",
        breaks: (all) => (service(all).spec.template.spec.terminationGracePeriodSeconds = 15 + STOP_MS / 1000),
        fault: /do not fit/,
      },
    ],
  },
  {
    title: "a replica that gets SIGTERM accepts connections until the readiness probe has found it not ready",
    faults(manifests) {
      const { periodSeconds = 10, failureThreshold = 3 } = api(manifests).readinessProbe ?? {};
      const found = periodSeconds * failureThreshold;
      return faultIf(found * 1000 >= MAX_LISTEN_MS, `the readiness probe fails after ${found} s`);
    },
    broken: [
      {
        title: "a slow probe",
        breaks: (all) => (api(all).readinessProbe!.periodSeconds = 7),
        fault: /probe fails after 21 s/,
      },
      {
        title: "Kubernetes' own period",
        breaks: (all) => delete api(all).readinessProbe?.periodSeconds,
        fault: /probe fails after 30 s/,
      },
    ],
  },
];
