import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Limits, SurfaceLimits } from "../../../src/limits/schema.ts";
import { faultOf, readStated, type Stated, textOf, verdictOf } from "./contract.ts";
import { type Charged, type Host, type HttpAnswer, type Outcome, UsageError } from "./host.ts";
import type { Settings } from "./settings.ts";
import { Tally } from "./tally.ts";

/** One request of a scenario. */
export interface Ask {
  readonly method: string;
  readonly path: string;
  readonly surface: Charged;
  /** Index into the keys of the run. */
  readonly key: number;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The statuses that are right. 200, 201 and 304 by default. A refusal by a limit is always right. */
  readonly expects?: readonly number[];
}

const RIGHT = [200, 201, 304];
/** Below this length the windows of two answers could not be told apart: `t` is in whole seconds, and answers take time. */
const SHORTEST_WINDOW_SECONDS = 5;

/** Sends the requests of one run, judges each answer against the contract and counts it. */
export class Run {
  readonly settings: Settings;
  readonly host: Host;
  readonly tally = new Tally();
  /** What GET /limits said last about each key. */
  readonly #limits: Limits[] = [];
  /** When the first window of the run ends, by this machine's clock. */
  #firstEnd: number | undefined;

  constructor(settings: Settings, host: Host) {
    this.settings = settings;
    this.host = host;
  }

  /** Sends one request with the key. */
  async send(ask: Ask): Promise<Outcome> {
    const { surface, key } = ask;
    const json = ask.json === undefined ? {} : { "Content-Type": "application/json" };
    const answer = await this.host.exchange({
      method: ask.method,
      url: this.settings.baseUrl + ask.path,
      headers: { Authorization: `Bearer ${this.settings.keys[key]}`, ...json, ...ask.headers },
      body: ask.json === undefined ? undefined : JSON.stringify(ask.json),
      surface,
    });
    const verdict = verdictOf(answer, surface !== "free");
    const stated = readStated(answer.headers);
    const fault = faultOf(answer, verdict, ask.expects ?? RIGHT) ?? this.#misstated(ask, stated);
    const outcome: Outcome = { surface, key, verdict, window: this.#windowOf(stated), fault, answer };
    this.tally.add(outcome);
    return outcome;
  }

  /** Reads the limits of a key. Charges nothing. */
  async limits(key: number): Promise<Limits> {
    const { answer } = await this.send({ method: "GET", path: "/limits", surface: "free", key });
    if (answer.status !== 200) throw new UsageError(`GET /limits with key ${key + 1}: ${reasonOf(answer)}`);
    const limits = JSON.parse(answer.body) as Limits;
    if (limits.window_seconds < SHORTEST_WINDOW_SECONDS)
      throw new UsageError(
        `A window of ${limits.window_seconds} seconds is too short to tell its answers from those of the next one.`,
      );
    this.#limits[key] = limits;
    return limits;
  }

  /** Reads the limits of every key. */
  async allLimits(): Promise<[Limits, ...Limits[]]> {
    const all: [Limits, ...Limits[]] = [await this.limits(0)];
    for (let key = 1; key < this.settings.keys.length; key++) all.push(await this.limits(key));
    return all;
  }

  #misstated({ surface, key }: Ask, stated: Stated | undefined): string | undefined {
    const known = this.#limits[key]?.surfaces.find((of) => of.surface === surface);
    if (known === undefined || stated === undefined) return undefined;
    if (stated.surface !== surface) return `RateLimit-Policy names the surface ${stated.surface}, not ${surface}`;
    const same = stated.account.limit === known.account.limit && stated.key.limit === known.key.limit;
    return same ? undefined : "RateLimit-Policy states other limits than GET /limits";
  }

  /** Each answer says how long its window still lasts. That identifies the window. */
  #windowOf(stated: Stated | undefined): number | undefined {
    if (stated === undefined) return undefined;
    const end = Date.now() + stated.reset * 1000;
    this.#firstEnd ??= end;
    return Math.round((end - this.#firstEnd) / (stated.windowSeconds * 1000));
  }
}

/** The two limits of a surface, and what is left of them. */
export function limitsOf({ surfaces }: Limits, surface: Surface): SurfaceLimits {
  const found = surfaces.find((of) => of.surface === surface);
  if (found === undefined) throw new UsageError(`GET /limits shows no surface ${surface}.`);
  return found;
}

function reasonOf({ status, body }: HttpAnswer): string {
  return status === 0 ? body : `${status} ${textOf(body, "detail")}`.trim();
}
