import { faultOf, textOf, verdictOf } from "./contract.ts";
import { readStated, type Stated } from "./headers.ts";
import { type Host, type HttpAnswer, type Outcome, type Settings, UsageError } from "./host.ts";
import type { Supply } from "./judge.ts";
import { Tally } from "./tally.ts";

/** One request of a scenario. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  /** "free" for a request that charges none. */
  readonly surface: string;
  /** Index into the keys of the run. */
  readonly key: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The statuses that are right. 200, 201 and 304 by default. A refusal by a limit is always right. */
  readonly expects?: readonly number[];
}

/** An account's limits, as GET /limits answers them without charging. */
export interface Limits {
  readonly accountId: string;
  readonly keyId: string;
  readonly windowSeconds: number;
  /** Whole seconds until the window ends. */
  readonly reset: number;
  readonly surfaces: Readonly<Record<string, { account: Used; key: Used }>>;
  readonly grants: readonly { surface: string; remaining: number }[];
}

export interface Used {
  readonly limit: number;
  readonly used: number;
  readonly remaining: number;
}

const RIGHT = [200, 201, 304];
/** Below this length the windows of two answers could not be told apart: `t` is in whole seconds, and answers take time. */
const SHORTEST_WINDOW_SECONDS = 5;

/** Sends the requests of one run, judges each answer against the contract and counts it. */
export class Run {
  readonly settings: Settings;
  readonly host: Host;
  readonly tally = new Tally();
  /** How many requests the scenario is going to send, as far as it knows. For progress bars only. */
  planned = 0;
  #sent = 0;
  /** The first answer of each surface, and of each surface and key. */
  readonly #first = new Map<string, { stated: Stated; charged: number }>();
  /** When the first window of the run ends, by this machine's clock. */
  #firstEnd: number | undefined;

  constructor(settings: Settings, host: Host) {
    this.settings = settings;
    this.host = host;
  }

  /** Returns true if the run may send nothing more: somebody stopped it, or it reached its bound. */
  get over(): boolean {
    return this.host.stopped() || this.bounded;
  }

  /** Requests sent so far. */
  get sent(): number {
    return this.#sent;
  }

  /** Returns true if the run has sent as many requests as it may. */
  get bounded(): boolean {
    return this.#sent >= this.settings.maxRequests;
  }

  /** Sends one request with the key. */
  async send(ask: Ask): Promise<Outcome> {
    this.#sent++;
    const json = ask.json === undefined ? {} : { "Content-Type": "application/json" };
    const answer = await this.host.exchange({
      method: ask.method,
      url: this.settings.baseUrl + ask.path,
      headers: { Authorization: `Bearer ${this.settings.keys[ask.key]}`, ...json, ...ask.headers },
      body: ask.json === undefined ? undefined : JSON.stringify(ask.json),
      surface: ask.surface,
    });
    const verdict = verdictOf(answer, ask.surface !== "free");
    const stated = readStated(answer.headers);
    if (stated !== undefined) this.#remember(ask, { stated, charged: verdict === "admitted" ? 1 : 0 });
    const outcome: Outcome = {
      surface: ask.surface,
      key: ask.key,
      verdict,
      window: this.#windowOf(stated),
      fault: faultOf(answer, verdict, ask.expects ?? RIGHT),
      answer,
    };
    this.tally.add(outcome);
    this.host.seen(outcome);
    return outcome;
  }

  /** Reads the limits of a key. Charges nothing. */
  async limits(key: number): Promise<Limits> {
    const { answer } = await this.send({ method: "GET", path: "/limits", surface: "free", key });
    if (answer.status !== 200) throw new UsageError(`GET /limits with key ${key + 1}: ${reasonOf(answer)}`);
    const read = JSON.parse(answer.body) as LimitsBody;
    const surfaces = Object.fromEntries(read.surfaces.map((of) => [of.surface, { account: of.account, key: of.key }]));
    this.#checkWindow(read.window_seconds);
    return {
      accountId: read.account_id,
      keyId: read.key_id,
      windowSeconds: read.window_seconds,
      reset: read.surfaces[0]?.reset ?? 1,
      surfaces,
      grants: read.grants,
    };
  }

  /** The limit of a key on a surface, as RateLimit-Policy stated it. 0 before any answer. */
  limitOf(surface: string, key: number): number {
    return this.#first.get(`${surface} ${key}`)?.stated.key.limit ?? 0;
  }

  /** The account's limit on a surface, as RateLimit-Policy stated it. 0 before any answer. */
  accountLimitOf(surface: string): number {
    return this.#first.get(surface)?.stated.account.limit ?? 0;
  }

  /** What remained on a surface before this run. Correct only if its first requests were sent one by one. */
  supplyOf(surface: string): Supply {
    const before = (name: string, level: "account" | "key"): number => {
      const first = this.#first.get(name);
      return first === undefined ? 0 : first.stated[level].remaining + first.charged;
    };
    return {
      account: before(surface, "account"),
      keys: this.settings.keys.map((_, key) => before(`${surface} ${key}`, "key")),
    };
  }

  #remember({ surface, key }: Ask, first: { stated: Stated; charged: number }): void {
    for (const name of [surface, `${surface} ${key}`]) if (!this.#first.has(name)) this.#first.set(name, first);
  }

  #checkWindow(seconds: number): void {
    const { windowSeconds } = this.settings;
    if (windowSeconds !== undefined && windowSeconds !== seconds)
      throw new UsageError(`The deployment's window is ${seconds} seconds, not ${windowSeconds}.`);
    if (seconds < SHORTEST_WINDOW_SECONDS)
      throw new UsageError(
        `A window of ${seconds} seconds is too short to tell its answers from those of the next one.`,
      );
  }

  /** Each answer says how long its window still lasts. That identifies the window. */
  #windowOf(stated: Stated | undefined): number | undefined {
    if (stated === undefined) return undefined;
    const end = Date.now() + stated.reset * 1000;
    this.#firstEnd ??= end;
    return Math.round((end - this.#firstEnd) / (stated.windowSeconds * 1000));
  }
}

interface LimitsBody {
  account_id: string;
  key_id: string;
  window_seconds: number;
  surfaces: { surface: string; account: Used; key: Used; reset: number }[];
  grants: { surface: string; remaining: number }[];
}

/** Why a request did not succeed, in one line. */
export function reasonOf({ status, body }: HttpAnswer): string {
  if (status === 0) return body;
  return `${status} ${textOf(body, "detail")}`.trim();
}

/** Sends each request at its time, at most `connections` at once, in the order given. Stops early if the run is over. */
export async function sendAll(run: Run, asks: readonly (Ask & { due?: number })[]): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    while (!run.over) {
      const ask = asks[next++];
      if (ask === undefined) return;
      if (ask.due !== undefined) await run.host.sleep(ask.due - Date.now());
      if (!run.over) await run.send(ask);
    }
  };
  await Promise.all(Array.from({ length: Math.min(run.settings.connections, asks.length) }, lane));
}
