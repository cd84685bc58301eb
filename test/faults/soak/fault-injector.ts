import { setTimeout } from "node:timers/promises";
import type { Proxy } from "../../limiter/proxy.ts";
import type { TestServer } from "../../support/servers.ts";

/** A fault, and when it began and ended, in milliseconds since the epoch. */
export interface InjectedFault {
  readonly what: string;
  readonly from: number;
  /** When the fault ended. The service may need a moment longer to recover. */
  to: number;
}

export interface Victims {
  redis: TestServer;
  /** The proxy in front of Redis. */
  proxy: Proxy;
  mongo: TestServer;
  /** The replicas that may be killed. */
  replicas: () => number[];
}

const LASTS_MS = 2_000;
const PAUSE_MS = { min: 10_000, max: 20_000 };

/** Causes a random fault after every pause of 10 to 20 seconds, and ends it, until `end` is called. */
export class FaultInjector {
  readonly injected: InjectedFault[] = [];
  readonly #victims: Victims;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;

  constructor(victims: Victims) {
    this.#victims = victims;
    this.#done = this.#run();
  }

  /** Resolves when the current fault has ended. @throws the error if a fault could not be caused or ended. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const faults = Object.entries(FAULTS);
    for (;;) {
      const quiet = PAUSE_MS.min + Math.random() * (PAUSE_MS.max - PAUSE_MS.min);
      await setTimeout(quiet, undefined, { signal: this.#over.signal }).catch(() => undefined);
      if (this.#over.signal.aborted) return;
      const [what, fault] = faults[Math.floor(Math.random() * faults.length)]!;
      const injectedFault = { what, from: Date.now(), to: Infinity };
      this.injected.push(injectedFault);
      await fault(this.#victims);
      injectedFault.to = Date.now();
    }
  }
}

export const REDIS_KILLED = "Redis killed and restarted";

const FAULTS: Record<string, (victims: Victims) => Promise<unknown>> = {
  async "replica killed"({ replicas }) {
    const pids = replicas();
    const pid = pids[Math.floor(Math.random() * pids.length)];
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    await setTimeout(LASTS_MS);
  },
  async "Redis paused"({ redis }) {
    redis.pause();
    await setTimeout(LASTS_MS);
    redis.resume();
  },
  async [REDIS_KILLED]({ redis }) {
    await redis.kill();
    await setTimeout(LASTS_MS / 2);
    await redis.restart();
  },
  async "connections to Redis cut"({ proxy }) {
    for (let times = 0; times < 20; times++) {
      proxy.cut();
      await setTimeout(LASTS_MS / 20);
    }
  },
  async "requests to Redis delayed by 5 s"({ proxy }) {
    proxy.delayMs = 5_000;
    await setTimeout(LASTS_MS);
    proxy.mend();
    await proxy.delivered();
  },
  async "MongoDB paused"({ mongo }) {
    mongo.pause();
    await setTimeout(LASTS_MS);
    mongo.resume();
  },
};
