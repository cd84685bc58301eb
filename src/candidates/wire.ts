import type { Logger } from "pino";
import type { AuditStore } from "../audit/store.ts";
import type { Config } from "../config.ts";
import type { ContentStore } from "../content/store.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import type { Clock } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import { Checkpoints, CheckpointStore } from "./checkpoints.ts";
import { Eraser, type EraserOptions } from "./eraser.ts";
import { CandidateService } from "./service.ts";
import { CandidateStore, type Reminders } from "./store.ts";

interface Dependencies {
  readonly mongo: Mongo;
  readonly clock: Clock;
  readonly config: Pick<Config, "STORE_TIMEOUT_MS">;
  readonly content: ContentStore;
  readonly idempotency: Idempotency;
  readonly audit: AuditStore;
  /** Undefined if the service sends no mail. */
  readonly reminders: Reminders | undefined;
  readonly messages: EraserOptions["messages"];
  /** Names this process, differently at each start. */
  readonly writer: string;
  /** Maximum clock skew between replicas, in milliseconds. */
  readonly skewMs: number;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wires what reads, writes and erases candidates. Create the indexes, then start `checkpoints`, before the first write. */
export function wireCandidates(dependencies: Dependencies) {
  const { mongo, clock, config, content, idempotency, audit, messages, skewMs } = dependencies;
  const { reminders, writer, log, metrics } = dependencies;
  const store = new CandidateStore(mongo, clock, reminders);
  const { feedClock, inFlight } = store;
  const marks = new CheckpointStore(mongo);
  const checkpoints = new Checkpoints({ store: marks, clock: feedClock, writer, inFlight, skewMs, log });
  metrics.readFeed = () => inFlight.state();
  const feedLagMs = config.STORE_TIMEOUT_MS + skewMs;
  return {
    store,
    checkpoints,
    service: new CandidateService({ store, content, clock, feedLagMs, checkpoints }),
    eraser: new Eraser({ store, content, idempotency, audit, messages }),
  };
}
