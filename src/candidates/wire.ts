import type { Logger } from "pino";
import type { Config } from "../config.ts";
import type { Clock } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import { Checkpoints, CheckpointStore } from "./checkpoints.ts";
import { Eraser, type EraserOptions } from "./eraser.ts";
import { CandidateService } from "./service.ts";
import { CandidateStore, type Reminders } from "./store.ts";

interface Dependencies extends Omit<EraserOptions, "store"> {
  readonly mongo: Mongo;
  readonly clock: Clock;
  readonly config: Pick<Config, "STORE_TIMEOUT_MS">;
  /** Undefined if the service sends no mail. */
  readonly reminders: Reminders | undefined;
  /** Names this process, differently at each start. */
  readonly writer: string;
  /** Maximum clock skew between replicas, in milliseconds. */
  readonly skewMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wires what reads, writes and erases candidates. Create the indexes, then start `checkpoints`, before the first write. */
export function wireCandidates(dependencies: Dependencies) {
  const { mongo, clock, config, content, reminders, writer, skewMs, log, metrics } = dependencies;
  const store = new CandidateStore(mongo, clock, reminders, log);
  const { feedClock, inFlight } = store;
  metrics.readFeed = () => inFlight.state();
  metrics.readUnreadable = () => store.reader.unreadable().length;
  const marks = new CheckpointStore(mongo);
  const checkpoints = new Checkpoints({ store: marks, clock: feedClock, writer, inFlight, skewMs, log });
  const feedLagMs = config.STORE_TIMEOUT_MS + skewMs;
  return {
    store,
    checkpoints,
    service: new CandidateService({ store, content, clock, feedLagMs, checkpoints }),
    eraser: new Eraser({ ...dependencies, store }),
  };
}
