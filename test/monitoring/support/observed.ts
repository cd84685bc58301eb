import { expect } from "chai";
import { type Processes, type Settings } from "../../support/processes.ts";
import { useProcesses } from "../../support/use-service.ts";
import { type Alert, JOB, type Prometheus, usePrometheus } from "./prometheus.ts";

/** With this, an hour of the rules takes a minute, and 5 minutes take 5 seconds. */
const TIMES = 60;
/** No test reaches these limits by accident. */
const MANY = { LIMIT_SCALE: 10_000 };

/** Runs the service in a process of its own, watched by a Prometheus. */
export function useObserved(
  settings: () => Settings = () => ({}),
  times = TIMES,
): { service: Processes; prometheus: Prometheus } {
  const service = useProcesses(() => ({ ...MANY, ...settings() }));
  const prometheus = usePrometheus(() => ({ targets: { [JOB]: service.opsUrl }, times }));
  return { service, prometheus };
}

/** Expects that Prometheus could fill in the texts of an alert. */
export function expectReadable({ annotations }: Alert): void {
  for (const text of Object.values(annotations)) expect(text).not.to.match(/<no value>|<error|NaN|\{\{|%!/);
}
