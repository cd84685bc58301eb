import { readFileSync } from "node:fs";
import { parse } from "yaml";

/** What the Deployment says about the start and the end of a pod. Times are in milliseconds. */
export interface PodTimes {
  readonly readiness: { path: string; everyMs: number; withinMs: number; failures: number; successes: number };
  /** A pod counts as available once it has been ready for this long. */
  readonly availableAfterMs: number;
  /** From the removal of the endpoint to SIGTERM. */
  readonly preStopMs: number;
  /** From the removal of the endpoint to SIGKILL. */
  readonly graceMs: number;
  readonly maxUnavailable: number;
  readonly maxSurge: number;
}

interface Deployment {
  spec: {
    minReadySeconds?: number;
    strategy: { rollingUpdate: { maxUnavailable: number; maxSurge: number } };
    template: {
      spec: {
        terminationGracePeriodSeconds: number;
        containers: {
          readinessProbe: {
            httpGet: { path: string };
            periodSeconds: number;
            timeoutSeconds: number;
            failureThreshold: number;
            successThreshold?: number;
          };
          lifecycle: { preStop: { sleep: { seconds: number } } };
        }[];
      };
    };
  };
}

/** Reads k8s/base/deployment.yaml. */
export function podTimes(): PodTimes {
  const { spec } = parse(readFileSync("k8s/base/deployment.yaml", "utf8")) as Deployment;
  const pod = spec.template.spec;
  const [container] = pod.containers;
  if (container === undefined) throw new Error("The Deployment has no container.");
  const { httpGet, periodSeconds, timeoutSeconds, failureThreshold, successThreshold = 1 } = container.readinessProbe;
  return {
    readiness: {
      path: httpGet.path,
      everyMs: periodSeconds * 1000,
      withinMs: timeoutSeconds * 1000,
      failures: failureThreshold,
      successes: successThreshold,
    },
    availableAfterMs: (spec.minReadySeconds ?? 0) * 1000,
    preStopMs: container.lifecycle.preStop.sleep.seconds * 1000,
    graceMs: pod.terminationGracePeriodSeconds * 1000,
    ...spec.strategy.rollingUpdate,
  };
}
