import { setTimeout } from "node:timers/promises";
import type { Fleet } from "../faults/replicas/fleet.ts";
import type { Member } from "../support/processes.ts";
import type { PodTimes } from "./deployment.ts";
import type { HaProxy } from "./haproxy.ts";

interface Pod {
  readonly name: string;
  readonly member: Member;
}

/** Processes behind HAProxy, started and ended in the order and with the delays of the Deployment. */
export class Pods {
  readonly #fleet: Fleet;
  readonly #proxy: HaProxy;
  readonly #times: PodTimes;
  readonly #serving: Pod[] = [];
  readonly #ending: Promise<void>[] = [];
  #count = 0;
  /** How each replaced process ended: its exit code, and whether it took longer than the grace allows. */
  readonly ends: { code: number | null; late: boolean }[] = [];

  constructor(fleet: Fleet, proxy: HaProxy, times: PodTimes) {
    this.#fleet = fleet;
    this.#proxy = proxy;
    this.#times = times;
  }

  /** Adds the processes that the fleet has, each once it is ready. */
  async admitAll(): Promise<void> {
    for (const member of this.#fleet.members) await this.#admit(member);
  }

  /**
   * Replaces one pod as a rolling update does with maxUnavailable 0 and maxSurge 1: the new one is available before the
   * old one leaves. The old one's end goes on in the background.
   * @param end how the old one ends.
   */
  async replaceOne(end: "as Kubernetes ends it" | "with SIGTERM at once"): Promise<void> {
    await this.#admit(await this.#fleet.join());
    await setTimeout(this.#times.availableAfterMs);
    const pod = this.#serving.shift();
    if (pod === undefined) return;
    this.#ending.push(end === "with SIGTERM at once" ? this.#terminate(pod) : this.#remove(pod));
  }

  /** Resolves when all replaced pods are gone. */
  async settled(): Promise<void> {
    await Promise.all(this.#ending);
  }

  async #admit(member: Member): Promise<void> {
    const { path, everyMs } = this.#times.readiness;
    while (!(await fetch(`http://127.0.0.1:${member.opsPort}${path}`)).ok) await setTimeout(everyMs);
    const pod = { name: `pod-${++this.#count}`, member };
    await this.#proxy.add(pod.name, member);
    this.#serving.push(pod);
  }

  async #remove(pod: Pod): Promise<void> {
    const { preStopMs } = this.#times;
    await this.#proxy.remove(pod.name);
    await setTimeout(preStopMs);
    await this.#terminate(pod, preStopMs);
  }

  /** @param usedMs what has been used of the grace. */
  async #terminate({ member }: Pod, usedMs = 0): Promise<void> {
    const started = performance.now();
    const code = await member.end("SIGTERM");
    this.ends.push({ code, late: usedMs + performance.now() - started > this.#times.graceMs });
  }
}
