import type { RequestListener } from "node:http";
import type { Logger } from "pino";
import type { Draining } from "./http/request.ts";
import type { BulkService } from "./candidates/bulk.ts";
import type { CandidateService } from "./candidates/service.ts";
import type { Eraser } from "./candidates/eraser.ts";
import type { SweepRunner } from "./sweeps/runner.ts";

/** The service, wired and connected. */
export interface System {
  readonly app: RequestListener;
  readonly log: Logger;
  /** Work that becomes due as time passes. One replica at a time does it. */
  readonly work: readonly SweepRunner[];
  readonly draining: Draining;
  /** Returns which of Redis and MongoDB do not respond, one text for each. One round trip to each server. */
  readonly faults: () => Promise<string[]>;
  /** Returns whether nobody may be served, because MongoDB is being restored. */
  readonly isRestoring: () => boolean;
  /** For operators' erasures and imports. */
  readonly eraser: Eraser;
  readonly candidates: CandidateService;
  readonly bulks: BulkService;
  /**
   * Waits until the outcome of every write is known and the last uses of keys and the usage are written, at most SETTLE_WITHIN_MS and a
   * few store operations. Then disconnects from Redis and MongoDB.
   */
  close(): Promise<void>;
}
