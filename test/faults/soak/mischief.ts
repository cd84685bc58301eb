import { setTimeout } from "node:timers/promises";
import type { Proxy } from "../../limiter/proxy.ts";
import type { TestServer } from "../../support/servers.ts";

/** From when to when something was broken, and what. */
export interface Trouble {
  readonly what: string;
  readonly from: number;
  /** When all was well again, but for what the service needs to notice. */
  to: number;
}

export interface Victims {
  redis: TestServer;
  /** Stands before Redis. */
  proxy: Proxy;
  mongo: TestServer;
  /** The replicas that may be killed. */
  replicas: () => number[];
}

const LASTS_MS = 2_000;
const PAUSE_MS = { least: 10_000, most: 20_000 };

/** Breaks something at random every 10 to 20 seconds, and mends it, until told to end. */
export class Mischief {
  readonly troubles: Trouble[] = [];
  readonly #victims: Victims;
  readonly #over = new AbortController();
  readonly #done: Promise<void>;

  constructor(victims: Victims) {
    this.#victims = victims;
    this.#done = this.#run();
  }

  /** Resolves when all is mended. @throws what went wrong in breaking or mending. */
  async end(): Promise<void> {
    this.#over.abort();
    await this.#done;
  }

  async #run(): Promise<void> {
    const faults = Object.entries(FAULTS);
    for (;;) {
      const quiet = PAUSE_MS.least + Math.random() * (PAUSE_MS.most - PAUSE_MS.least);
      await setTimeout(quiet, undefined, { signal: this.#over.signal }).catch(() => undefined);
      if (this.#over.signal.aborted) return;
      const [what, fault] = faults[Math.floor(Math.random() * faults.length)]!;
      const trouble = { what, from: Date.now(), to: Infinity };
      this.troubles.push(trouble);
      await fault(this.#victims);
      trouble.to = Date.now();
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
  async "Redis 5 s late"({ proxy }) {
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
