import { EventEmitter, once, setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { limitsOf, type Surface } from "../../../src/limiter/surfaces.ts";
import { LoadClient, type LoadRequest } from "../../support/load.ts";
import { REQUESTS } from "../../support/requests.ts";
import { Tally } from "../tally.ts";
import type { Times } from "./ledger.ts";

/** The surfaces whose requests cost the service little. */
export const SURFACES = ["create", "list", "start"] as const satisfies Surface[];

/** Seconds that a crowd needs to offer an account's limit at its normal pace. */
const UNHURRIED_S = 6;
/** Each key's share of the account's requests. The first share is large enough to exhaust that key's own limit. */
const SHARES = [0.6, 0.2, 0.2];
const LANES = 2;
/** Milliseconds between two requests of a hurried lane. It is there to be refused, not to overload the machine. */
const HURRIED_MS = 20;
/** Consecutive refusals after which a hurried lane counts its limit as exhausted. */
const REFUSALS_IN_A_ROW = 5;

/**
 * Clients of one account with three keys. Each has its own connection, which the kernel assigns to any replica: on a busy
 * machine it may assign all of them to one.
 */
export class Crowd {
  readonly tally = new Tally();
  /** When each request was sent and answered, by its id. */
  readonly times = new Map<string, Times>();
  /** Returns 503 without the code limiter_unavailable or without `Retry-After: 1`. */
  readonly invalid503s: string[] = [];
  readonly #lanes: Promise<void>[];
  readonly #changes = new EventEmitter();
  /** Aborted when the crowd ends, so that no lane rests until then. */
  readonly #ended = new AbortController();
  #inFlight = 0;
  #paused = false;
  #hurried = false;
  #over = false;
  /** Clients of the lanes whose limit is exhausted. */
  readonly #exhausted = new Set<LoadClient>();

  /** @param keepAlive false opens a connection for each request, so that requests reach several replicas on any machine. */
  constructor(url: string, keys: readonly string[], candidate: string, keepAlive = true) {
    this.#changes.setMaxListeners(0);
    setMaxListeners(0, this.#ended.signal);
    const everyLane = keys.flatMap((key, n) =>
      SURFACES.flatMap((surface) => Array.from({ length: LANES }, () => ({ key, surface, share: SHARES[n] ?? 0 }))),
    );
    this.#lanes = everyLane.map(({ key, surface, share }) => {
      const everyMs = (LANES * UNHURRIED_S * 1000) / (share * limitsOf(surface, 1).account);
      return this.#lane(
        new LoadClient(url, 1, keepAlive),
        [REQUESTS.reads(key, candidate), REQUESTS[surface](key, candidate)],
        everyMs,
      );
    });
  }

  /** Pauses the crowd, and calls `act` once no request is in flight. */
  async whilePaused<T>(act: () => T | Promise<T>): Promise<T> {
    this.#paused = true;
    try {
      while (this.#inFlight > 0) await once(this.#changes, "answered");
      return await act();
    } finally {
      this.#paused = false;
      this.#changes.emit("resumed");
    }
  }

  /** Sends faster until the limit of every lane is exhausted. */
  async exhaust(): Promise<void> {
    this.#hurried = true;
    while (this.#exhausted.size < this.#lanes.length) await once(this.#changes, "exhausted");
  }

  async end(): Promise<void> {
    this.#over = true;
    this.#ended.abort();
    await Promise.all(this.#lanes);
  }

  /**
   * @param first opens the connection and makes its replica cache the key, so that no later decision waits for MongoDB.
   */
  async #lane(
    load: LoadClient,
    [first, request]: [first: LoadRequest, request: LoadRequest],
    everyMs: number,
  ): Promise<void> {
    await this.#send(load, first);
    await this.#rest(Math.random() * everyMs);
    let refusals = 0;
    while (!this.#over) {
      if (this.#paused) await once(this.#changes, "resumed");
      const status = await this.#send(load, request);
      refusals = this.#hurried && status === 429 ? refusals + 1 : 0;
      if (refusals === REFUSALS_IN_A_ROW) {
        this.#exhausted.add(load);
        this.#changes.emit("exhausted");
      }
      await this.#rest(this.#hurried && refusals < REFUSALS_IN_A_ROW ? HURRIED_MS : everyMs);
    }
    load.close();
  }

  /** Waits, but not longer than until the crowd ends: at the normal pace a lane may rest for three seconds. */
  async #rest(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#ended.signal }).catch(() => undefined);
  }

  async #send(load: LoadClient, request: LoadRequest): Promise<number | undefined> {
    this.#inFlight++;
    const sent = performance.now();
    const { response } = await this.tally.send(load, request);
    if (response !== undefined)
      this.times.set(String(response.headers["x-request-id"]), { sent, answered: performance.now() });
    this.#inFlight--;
    this.#changes.emit("answered");
    if (
      response?.status === 503 &&
      !(response.body.includes('"limiter_unavailable"') && response.headers["retry-after"] === "1")
    ) {
      this.invalid503s.push(`${request.method} ${request.path}: ${response.body}`);
    }
    return response?.status;
  }
}
