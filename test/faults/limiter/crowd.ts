import { EventEmitter, once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { limitsOf, type Surface } from "../../../src/limiter/surfaces.ts";
import { LoadClient, type LoadRequest } from "../../support/load.ts";
import { REQUESTS } from "../../support/requests.ts";
import { Tally } from "../tally.ts";

/** The surfaces that take the service little. */
export const SURFACES = ["create", "list", "start"] as const satisfies Surface[];

/** Seconds in which an unhurried crowd offers an account's limit. */
const UNHURRIED_S = 6;
/** How the account's requests fall to its keys: the first is greedy enough to exhaust its own limit. */
const SHARES = [0.6, 0.2, 0.2];
const LANES = 2;
/** Between two requests of a hurried lane: what it asks for is refusals, not the machine's last breath. */
const HURRIED_MS = 20;
/** So many refusals in a row, and a hurried lane has seen that nothing more is to be had. */
const ENOUGH = 5;

/** Clients of one account with three keys. Each has a connection of its own: which replica takes it is the kernel's choice. */
export class Crowd {
  readonly tally = new Tally();
  /** Answers 503 that do not say what they should. */
  readonly unsound: string[] = [];
  readonly #lanes: Promise<void>[];
  readonly #changes = new EventEmitter();
  #underWay = 0;
  #held = false;
  #hurried = false;
  #over = false;
  /** Lanes that have been refused for good. */
  readonly #satisfied = new Set<LoadClient>();

  constructor(url: string, keys: readonly string[], candidate: string) {
    this.#changes.setMaxListeners(0);
    const everyLane = keys.flatMap((key, n) =>
      SURFACES.flatMap((surface) => Array.from({ length: LANES }, () => ({ key, surface, share: SHARES[n] ?? 0 }))),
    );
    this.#lanes = everyLane.map(({ key, surface, share }) => {
      const everyMs = (LANES * UNHURRIED_S * 1000) / (share * limitsOf(surface, 1).account);
      return this.#lane(
        new LoadClient(url, 1),
        [REQUESTS.reads(key, candidate), REQUESTS[surface](key, candidate)],
        everyMs,
      );
    });
  }

  /** Does something while no request is under way. */
  async hush<T>(act: () => T | Promise<T>): Promise<T> {
    this.#held = true;
    try {
      while (this.#underWay > 0) await once(this.#changes, "answered");
      return await act();
    } finally {
      this.#held = false;
      this.#changes.emit("resumed");
    }
  }

  /** Goes on faster until every lane is refused for good. */
  async exhaust(): Promise<void> {
    this.#hurried = true;
    while (this.#satisfied.size < this.#lanes.length) await once(this.#changes, "satisfied");
  }

  async end(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#lanes);
  }

  /** @param first makes the connection, and its replica acquainted with the key: no decision later waits for MongoDB. */
  async #lane(
    load: LoadClient,
    [first, request]: [first: LoadRequest, request: LoadRequest],
    everyMs: number,
  ): Promise<void> {
    await this.#send(load, first);
    await setTimeout(Math.random() * everyMs);
    let refusals = 0;
    while (!this.#over) {
      if (this.#held) await once(this.#changes, "resumed");
      const status = await this.#send(load, request);
      refusals = this.#hurried && status === 429 ? refusals + 1 : 0;
      if (refusals === ENOUGH) {
        this.#satisfied.add(load);
        this.#changes.emit("satisfied");
      }
      await setTimeout(this.#hurried && refusals < ENOUGH ? HURRIED_MS : everyMs);
    }
    load.close();
  }

  async #send(load: LoadClient, request: LoadRequest): Promise<number | undefined> {
    this.#underWay++;
    const { answer } = await this.tally.send(load, request);
    this.#underWay--;
    this.#changes.emit("answered");
    if (
      answer?.status === 503 &&
      !(answer.body.includes('"limiter_unavailable"') && answer.headers["retry-after"] === "1")
    ) {
      this.unsound.push(`${request.method} ${request.path}: ${answer.body}`);
    }
    return answer?.status;
  }
}
