import { type Manifest, ofKind } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";

const API = "monitoring.coreos.com/v1";

function add(all: Manifest[], kind: string, spec: unknown): void {
  all.push({ apiVersion: API, kind, metadata: { name: "made-up", namespace: "onboarding" }, spec });
}

const inGroup = (...rules: unknown[]) => ({ groups: [{ name: "made-up", rules }] });

/** Kubernetes has no schema of the Prometheus operator's kinds, so these look at their structure. */
export const operatorRules: Rule[] = [
  {
    title: "a ServiceMonitor selects by labels and names ports",
    faults: (manifests) =>
      ofKind("ServiceMonitor", manifests).flatMap(({ apiVersion, metadata, spec: { selector, endpoints = [] } }) =>
        [
          ...faultIf(apiVersion !== API, `is of ${apiVersion}`),
          ...faultIf(Object.keys(selector?.matchLabels ?? {}).length === 0, "selects everything"),
          ...faultIf(endpoints.length === 0, "has no endpoint"),
          ...endpoints.flatMap(({ port }) => faultIf(typeof port !== "string", "names no port")),
        ].map((fault) => `ServiceMonitor/${metadata.name} ${fault}`),
      ),
    broken: [
      {
        title: "no labels",
        breaks: (all) => add(all, "ServiceMonitor", { endpoints: [{ port: "ops" }] }),
        fault: /made-up selects everything/,
      },
      {
        title: "no endpoints",
        breaks: (all) => add(all, "ServiceMonitor", { selector: { matchLabels: { a: "b" } } }),
        fault: /made-up has no endpoint/,
      },
      {
        title: "a number for a port",
        breaks: (all) => add(all, "ServiceMonitor", { endpoints: [{ port: 9090 }] }),
        fault: /made-up names no port/,
      },
    ],
  },
  {
    title: "every rule of a PrometheusRule has an expression, and either records or alerts",
    faults: (manifests) =>
      ofKind("PrometheusRule", manifests).flatMap(({ apiVersion, metadata, spec: { groups = [] } }) =>
        [
          ...faultIf(apiVersion !== API, `is of ${apiVersion}`),
          ...faultIf(groups.length === 0, "has no group"),
          ...groups.flatMap(({ name, rules = [] }) => [
            ...faultIf(typeof name !== "string", "has a group without a name"),
            ...faultIf(rules.length === 0, `has no rules in ${name}`),
            ...rules.flatMap(({ alert, record, expr }) => [
              ...faultIf(typeof expr !== "string" || expr === "", `has no expression in ${alert ?? record}`),
              ...faultIf((alert === undefined) === (record === undefined), "has a rule that is no alert or both"),
            ]),
          ]),
        ].map((fault) => `PrometheusRule/${metadata.name} ${fault}`),
      ),
    broken: [
      { title: "no groups", breaks: (all) => add(all, "PrometheusRule", {}), fault: /has no group$/ },
      {
        title: "no rules",
        breaks: (all) => add(all, "PrometheusRule", inGroup()),
        fault: /has no rules in made-up/,
      },
      {
        title: "no expression",
        breaks: (all) => add(all, "PrometheusRule", inGroup({ alert: "Down" })),
        fault: /has no expression in Down/,
      },
      {
        title: "neither an alert nor a record",
        breaks: (all) => add(all, "PrometheusRule", inGroup({ expr: "up" })),
        fault: /no alert or both/,
      },
    ],
  },
];
