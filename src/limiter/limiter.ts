import type { SharedClock } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import { pacedReads } from "../infra/paced-reads.ts";
import { serverOf } from "../infra/redis-connections.ts";
import type { RedisEpoch } from "../infra/redis-epoch.ts";
import type { TimeLimit } from "../infra/time-limit.ts";
import { type CallerClaim, type ChargeRequest, type Decision, decisionOf } from "./decision.ts";
import { GrantCounters, liveGrants } from "./grant-counters.ts";
import { ShownGrants } from "./headers.ts";
import { localLimiter } from "./local.ts";
import { type Observer, observer, OutageDetector, replyWithin } from "./observer.ts";
import { refusalCache } from "./refusal-cache.ts";
import { charge, drawGrant, NEVER } from "./scripts.ts";
import { serverClocks } from "./server-clocks.ts";
import { limitsOf } from "./surfaces.ts";
import { readUsage, type Usage, type UsageOptions } from "./usage.ts";

export interface LimiterOptions extends UsageOptions {
  /** Every prompt reply sets it to Redis's clock; in a cluster, that of one master. */
  clock: SharedClock;
  /**
   * If Redis does not respond: `refuse` with 503, or `local`: count this replica's share of each limit in memory, once
   * three charges in a row have failed, over at least a second. Until then, and after any reply, refuse.
   */
  onOutage: "refuse" | "local";
  /** The share of one replica is the limit divided by this. */
  replicasExpected: number;
  metrics: Metrics;
  connection: Pick<RedisEpoch, "changes" | "connections">;
}

/** Minimum time between two reads of what one key has used, in milliseconds. GET /limits is free, so it needs a bound. */
const USAGE_EVERY_MS = 100;

/** Number of times that a stale charge is sent again: once to learn the clock of a master, once because it was late. */
const STALE_AGAIN = 2;

/**
 * Maximum time between the deadline of a charge and its 503, in milliseconds; otherwise a tenth of the time-out. It covers
 * the way back: a charge that Redis runs at the last moment would count although its reply comes too late. At least 1 ms,
 * because timers fire up to 1 ms early.
 */
const MAX_WAY_BACK_MS = 10;

/** Versions begin with 1. */
const NO_VERSION = 0;

/**
 * Decides requests with lua/charge.lua and, if a window is exhausted, lua/draw-grant.lua. The limits hold exactly across
 * all replicas on the same Redis.
 *
 * Each charge carries a deadline in Redis's time, computed from the last reply of the same server and this process's
 * monotonic timer. A command that waits in a socket until its caller got 503 is stale and charges nothing. The deadline may
 * be early; the charge is then retried. It is late only if Redis's clock steps back while a command waits in a socket: then
 * its caller got 503 and is charged (decisions/2026-11-21-charges-carry-a-deadline.md).
 */
export class Limiter {
  readonly #options: LimiterOptions;
  readonly #chargeLocally: ReturnType<typeof localLimiter> | null;
  readonly #observer: Observer;
  /** By server: in a Cluster, one master may fail alone. */
  readonly #outages = new Map<string, OutageDetector>();
  readonly #pacedUsage = pacedReads<Usage>(USAGE_EVERY_MS);
  readonly #clocks: ReturnType<typeof serverClocks>;
  readonly #grants: GrantCounters;
  readonly #shown = new ShownGrants();
  readonly #refusals: ReturnType<typeof refusalCache>;
  readonly #wayBackMs: number;
  /** Resolves at the end of this turn of the event loop. Then charges are sent and repeated refusals are returned. */
  #departure: Promise<void> | undefined;

  constructor(options: LimiterOptions) {
    this.#options = options;
    this.#chargeLocally = options.onOutage === "local" ? localLimiter(options) : null;
    this.#observer = observer(options.metrics);
    this.#clocks = serverClocks(options.redis, options.clock);
    this.#grants = new GrantCounters(options.redis);
    this.#refusals = refusalCache(options);
    this.#wayBackMs = Math.max(1, Math.min(MAX_WAY_BACK_MS, options.timeoutMs / 10));
  }

  /**
   * Charges a request to its account and its key, both or neither. One round trip; none in a flood of refusals; two if a
   * window is exhausted; and more, within the same `timeoutMs`, if an attempt was stale.
   * @returns the decision. A refusal is not thrown.
   * @throws problem `limiter_unavailable` within `timeoutMs` of its sending. The request is not admitted, but may have been
   * charged once. With `onOutage` local, only until it is an outage.
   */
  async charge(request: ChargeRequest): Promise<Decision> {
    // A repeated refusal waits, too. Sending those of one turn together halves what a flood costs.
    await this.#depart();
    const repeated = this.#refusals.find(request);
    if (repeated !== undefined) {
      this.#observer.repeated(repeated);
      return repeated;
    }
    const started = performance.now();
    try {
      const { timeoutMs } = this.#options;
      const decision = await replyWithin(timeoutMs, (limit) => this.#send(request, limit, STALE_AGAIN));
      this.#outageOf(request).succeeded();
      this.#observer.decided(decision, started);
      return decision;
    } catch (error) {
      this.#observer.failed(request.surface, started);
      const isOutage = this.#outageOf(request).failed();
      if (this.#chargeLocally === null || !isOutage) throw error;
      const decision = this.#chargeLocally(request);
      this.#options.metrics.localDecisions.inc({ surface: request.surface });
      return decision;
    }
  }

  /**
   * Reads what a key and its account have used. All callers within USAGE_EVERY_MS share one read, which begins after their
   * calls: so it counts every request that was decided before.
   * @throws problem `limiter_unavailable`
   */
  readUsage(claim: CallerClaim): Promise<Usage> {
    const { accountId, keyId, accountVersion, connections, secretEndsAt } = claim;
    const name = [accountId, keyId, accountVersion, connections, secretEndsAt].join();
    return this.#pacedUsage(name, () => {
      const current = { ...claim, accountVersion: this.#versionOf(claim) };
      return this.#options.metrics.timed("redis", "evalsha", () => readUsage(this.#options, current));
    });
  }

  /**
   * Returns the version to send with a claim: one that no account has if Redis was connected again since the key was found
   * in the cache, so that the reply is `outdated`.
   */
  #versionOf({ accountVersion, connections }: CallerClaim): number | undefined {
    const isSame = connections === undefined || connections === this.#options.connection.connections;
    return isSame ? accountVersion : NO_VERSION;
  }

  /**
   * Waits until the event loop has read everything that has arrived, so that the charges of those requests are sent in one
   * write. The time-out begins only then (decisions/2026-11-23-charges-leave-together.md).
   */
  #depart(): Promise<void> {
    return (this.#departure ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#departure = undefined;
        resolve();
      });
    }));
  }

  #outageOf({ accountId }: ChargeRequest): OutageDetector {
    const server = serverOf(this.#options.redis, accountId);
    const known = this.#outages.get(server) ?? new OutageDetector();
    this.#outages.set(server, known);
    return known;
  }

  /** Sends a charge, and again if it was stale. No async function: each promise costs every request something. */
  #send(request: ChargeRequest, limit: TimeLimit, again: number): Promise<Decision> {
    const { accountId, keyId, surface, cost = 1, secretEndsAt = NEVER } = request;
    const { redis, windowSeconds, scale, metrics } = this.#options;
    const sending = this.#refusals.sent();
    const { sentAt } = sending;
    const giveUpAt = sentAt + limit.leftMs;
    const call = {
      caller: { accountId, keyId },
      surface,
      limits: limitsOf(surface, scale),
      windowSeconds,
      cost,
      deadlineMs: this.#clocks.timeAt(giveUpAt - this.#wayBackMs, accountId),
      accountVersion: this.#versionOf(request),
      secretEndsAt,
    };
    // Stale, so nothing was charged. If this process stood still, its caller still waits: that is no try.
    const sendAgain = (received: number): Promise<Decision> => {
      if (again > 0 && limit.leftMs > 0) return this.#send(request, limit, received < giveUpAt ? again - 1 : again);
      throw new Error("The charge reached Redis after its deadline");
    };
    const charging = charge(redis, call);
    // If this fails, the grants are not shown. A window that has room does not depend on them.
    const listing = this.#shown.mayHave(request) && this.#grants.list(call.caller, surface).catch(() => undefined);
    return charging.then(
      (reply) => {
        const received = performance.now();
        metrics.operation("redis", "evalsha", sentAt);
        // A late reply says too little about the current time.
        if (received < giveUpAt) this.#clocks.note(reply.nowMs, { accountId, sentAt, received });
        const { verdict: first } = reply;
        if (first === "stale") return sendAgain(received);
        if (first === "account_exhausted" || first === "key_exhausted") {
          // A window that has ended is not exhausted any more.
          const deadlineMs = Math.min(call.deadlineMs, (reply.window + 1) * windowSeconds * 1000);
          const drawing = metrics.timed("redis", "evalsha", () => drawGrant(redis, { ...call, deadlineMs }));
          return drawing.then(({ outcome, ...grants }) => {
            if (outcome === "stale") return sendAgain(performance.now());
            this.#shown.note(request, first, grants);
            const decision = decisionOf(outcome === "drawn" ? "granted" : first, call, reply, grants);
            this.#refusals.keep(request, decision, sending);
            return decision;
          });
        }
        if (listing === false) return decisionOf(first, call, reply);
        return listing.then((grants) => {
          const live = liveGrants(grants ?? [], reply.nowMs);
          if (grants !== undefined) this.#shown.note(request, first, live);
          return decisionOf(first, call, reply, live);
        });
      },
      (error: unknown) => {
        metrics.operation("redis", "evalsha", sentAt, error);
        throw error;
      },
    );
  }
}
