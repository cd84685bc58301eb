import type { Config } from "../../src/config.ts";
import { LoadClient } from "./load.ts";
import { type Processes, type Settings, spawnService } from "./processes.ts";
import { testConfig } from "./service.ts";

/** Replicas in separate processes, each with its own port, so that a test can address each one. */
export interface Replicas {
  readonly config: Config;
  readonly all: readonly Processes[];
  /** The first replica, for tests that need no particular one. */
  readonly first: Processes;
  stop(): Promise<void>;
}

export async function spawnReplicas(count: number, settings: Settings = {}): Promise<Replicas> {
  const config = testConfig(settings);
  const shared = { ...settings, MONGODB_URL: config.MONGODB_URL ?? "" };
  const all = await Promise.all(Array.from({ length: count }, () => spawnService(shared)));
  const [first] = all;
  if (first === undefined) throw new Error("There is no replica.");
  return { config, all, first, stop: async () => void (await Promise.all(all.map((replica) => replica.stop()))) };
}

/** One response. Times are `performance.now()` of this process, in milliseconds. */
export interface Sample {
  readonly replica: number;
  readonly key: string;
  readonly path: string;
  readonly status: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

export interface Load {
  /** Every response so far, in the order of arrival. */
  readonly samples: readonly Sample[];
  /** Resolves when every replica has answered, for every key and path, a request that was sent after this call. */
  answeredAll(): Promise<void>;
  stop(): Promise<void>;
}

/** Sends GETs with every key to every replica without pause, until stopped. Each pair of key and replica has a connection. */
export function hammer({ all }: Replicas, keys: readonly string[], paths: readonly string[]): Load {
  const samples: Sample[] = [];
  const listeners = new Set<() => void>();
  const clients = all.map(({ url }) => new LoadClient(url, keys.length));
  let stopped = false;
  const lane = async (replica: number, key: string) => {
    for (let sent = 0; !stopped; sent++) {
      const path = paths[sent % paths.length] ?? "/";
      const sentAt = performance.now();
      const { status } = await clients[replica]!.send({ method: "GET", path, key });
      samples.push({ replica, key, path, status, sentAt, answeredAt: performance.now() });
      for (const listener of listeners) listener();
    }
  };
  const lanes = Promise.all(all.flatMap((_, replica) => keys.map((key) => lane(replica, key))));
  return {
    samples,
    answeredAll() {
      const since = performance.now();
      return new Promise((resolve) => {
        const listener = () => {
          const answered = new Set(
            samples
              .filter(({ sentAt }) => sentAt >= since)
              .map(({ replica, key, path }) => `${replica} ${key} ${path}`),
          );
          if (answered.size < all.length * keys.length * paths.length) return;
          listeners.delete(listener);
          resolve();
        };
        listeners.add(listener);
      });
    },
    async stop() {
      stopped = true;
      await lanes;
      for (const client of clients) client.close();
    },
  };
}
