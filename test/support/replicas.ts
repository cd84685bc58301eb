import type { Config } from "../../src/config.ts";
import { LoadClient } from "./load.ts";
import { type Processes, type Settings, spawnService } from "./processes.ts";
import { testConfig } from "./service.ts";

/** Replicas as machines of their own would be: processes with a port each, so that a test reaches every one of them. */
export interface Replicas {
  readonly config: Config;
  readonly all: readonly Processes[];
  /** The first one's, for what needs no particular one. */
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

/** One answer of a load. Times are of this process, in milliseconds. */
export interface Sample {
  readonly replica: number;
  readonly key: string;
  readonly path: string;
  readonly status: number;
  readonly sentAt: number;
  readonly answeredAt: number;
}

export interface Load {
  /** Every answer so far, in the order in which they came. */
  readonly samples: readonly Sample[];
  /** Resolves when every replica has answered a request of every key that was sent from now on. */
  answeredAll(): Promise<void>;
  stop(): Promise<void>;
}

/** Sends GETs with every key to every replica without pause, each over a connection of its own, until it is stopped. */
export function hammer({ all }: Replicas, keys: readonly string[], paths: readonly string[]): Load {
  const samples: Sample[] = [];
  const waiting = new Set<() => void>();
  const clients = all.map(({ url }) => new LoadClient(url, keys.length));
  let stopped = false;
  const lane = async (replica: number, key: string) => {
    for (let sent = 0; !stopped; sent++) {
      const path = paths[sent % paths.length] ?? "/";
      const sentAt = performance.now();
      const { status } = await clients[replica]!.send({ method: "GET", path, key });
      samples.push({ replica, key, path, status, sentAt, answeredAt: performance.now() });
      for (const tell of waiting) tell();
    }
  };
  const lanes = Promise.all(all.flatMap((_, replica) => keys.map((key) => lane(replica, key))));
  return {
    samples,
    answeredAll() {
      const since = performance.now();
      return new Promise((resolve) => {
        const tell = () => {
          const answered = new Set(
            samples
              .filter(({ sentAt }) => sentAt >= since)
              .map(({ replica, key, path }) => `${replica} ${key} ${path}`),
          );
          if (answered.size < all.length * keys.length * paths.length) return;
          waiting.delete(tell);
          resolve();
        };
        waiting.add(tell);
      });
    },
    async stop() {
      stopped = true;
      await lanes;
      for (const client of clients) client.close();
    },
  };
}
