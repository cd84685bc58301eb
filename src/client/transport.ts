import {
  ConnectionError,
  errorOf,
  ProblemError,
  RateLimitError,
  refusalOf,
  retryAfterOf,
  unexpected,
} from "./errors.ts";
import { KnownLimits, type Surface } from "./limits.ts";
import { jsonPayload, type Payload } from "./payload.ts";
import { MAX_TIMER_MS, sleep } from "./sleep.ts";

export interface ClientOptions {
  /** Where the service is, for example `https://onboarding.example.com`. It may have a path. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Maximum total wait of one call, in seconds: for limits, for pacing, and before retries. 60 by default. */
  readonly maxWait?: number;
  /** Once less than half of a limit is left, spreads the calls over the rest of its window. Off by default. */
  readonly pacing?: boolean;
  /** Seconds until an attempt without a response is given up. 30 by default. It does not apply to uploads. */
  readonly timeout?: number;
  /** Ends all calls when it aborts. */
  readonly signal?: AbortSignal;
  /** Used instead of the global `fetch`, for example to add a proxy or to log. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export interface CallOptions {
  /** Ends the call when it aborts, in whatever phase it is. */
  readonly signal?: AbortSignal | undefined;
  /** An ETag. If the resource has another one by now, a write is refused with the code `version_mismatch`. */
  readonly ifMatch?: string | undefined;
  /** For a POST. By default the client makes one for each call; its retries have the same. */
  readonly idempotencyKey?: string | undefined;
  /** Called with the response before its body is read, for example for its ETag. Also called for each refusal. */
  readonly onAnswer?: ((response: { readonly status: number; readonly headers: Headers }) => void) | undefined;
}

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  readonly path: string;
  readonly surface: Surface;
  /** As how many requests it counts. 1 by default. */
  readonly cost?: number;
  /** True if the caller sends a smaller request, rather than waits, while a limit leaves some. */
  readonly shrinks?: boolean | undefined;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly payload?: Payload | undefined;
  readonly options: CallOptions;
}

const RETRIES = 5;
/** Pause before the first retry, in milliseconds. It doubles with each. */
const FIRST_PAUSE_MS = 250;

/** Sends calls, and sends them again where that is safe. */
export class Transport {
  readonly #options: ClientOptions;
  readonly #limits: KnownLimits;
  readonly #base: string;

  /** @throws TypeError if baseUrl is no http URL. */
  constructor(options: ClientOptions) {
    const { protocol, href } = new URL(options.baseUrl);
    if (!/^https?:$/.test(protocol)) throw new TypeError(`baseUrl is not an http URL: ${options.baseUrl}`);
    this.#base = href.replace(/\/+$/, "");
    this.#options = options;
    this.#limits = new KnownLimits(options.pacing ?? false);
  }

  get<T>(path: string, options: CallOptions, surface: Surface = "reads", query: Call["query"] = {}): Promise<T> {
    return this.send({ method: "GET", path, surface, query, options }, json<T>);
  }

  post<T>(path: string, options: CallOptions, surface: Surface, payload?: Payload): Promise<T> {
    return this.send({ method: "POST", path, surface, payload, options }, json<T>);
  }

  patch<T>(path: string, patch: unknown, options: CallOptions, surface: Surface = "writes"): Promise<T> {
    return this.send({ method: "PATCH", path, surface, payload: jsonPayload(patch), options }, json<T>);
  }

  delete(path: string, options: CallOptions, surface: Surface = "writes"): Promise<void> {
    return this.send({ method: "DELETE", path, surface, options }, nothing);
  }

  /**
   * @param read reads the response if its status is 2xx. If the connection breaks before the end, the call is sent again.
   * @throws {RateLimitError} if a limit holds longer than maxWait; {ProblemError} for any other refusal; {ConnectionError}
   * if there was no response; the reason of a signal that aborted.
   */
  async send<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const signal = anyOf([this.#options.signal, call.options.signal]);
    const headers = this.#headersOf(call);
    void new Headers(headers); // throws a TypeError for a key that no header can hold; `fetch` would seem to fail
    let waitMs = (this.#options.maxWait ?? 60) * 1000;
    const wait = async (ms: number): Promise<void> => {
      await sleep(ms, signal);
      waitMs -= ms;
    };
    const heldBy = () => this.#limits.refusal(call.surface, call.cost);
    /** Whether a refusal ends the call. Else the call waits. */
    const ends = ({ retryAfter, remaining }: RateLimitError): boolean =>
      retryAfter * 1000 > waitMs || (call.shrinks === true && remaining > 0);
    for (let failures = 0, unclear = false; ;) {
      await wait(Math.min(waitMs, this.#limits.turn(call.surface, call.cost)));
      // More than once, because other calls may be refused during the wait.
      for (let known = heldBy(); known; known = heldBy()) {
        if (ends(known)) throw known;
        await wait(known.retryAfter * 1000);
      }
      const attempt = await this.#attempt(call, headers, read, signal);
      if ("value" in attempt) return attempt.value;
      const { error, retryAfter } = attempt;
      // An earlier attempt deleted it, and its response was lost.
      if (unclear && call.method === "DELETE" && error instanceof ProblemError && error.code === "not_found")
        return read(new Response(null, { status: 204 }));
      if (error instanceof RateLimitError) {
        if (call.payload?.spent() || ends(error)) throw error;
        continue;
      }
      unclear ||= !isRefusedBeforeWork(error);
      const pauseMs = Math.max(retryAfter * 1000, FIRST_PAUSE_MS * 2 ** failures * (0.5 + Math.random() / 2));
      if (!mayRepeat(call, error) || ++failures > RETRIES || pauseMs > waitMs) throw error;
      await wait(pauseMs);
    }
  }

  async #attempt<T>(
    call: Call,
    headers: Record<string, string>,
    read: (response: Response) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<{ value: T } | { error: Error; retryAfter: number }> {
    const { method, payload, surface, cost = 1 } = call;
    const late = new AbortController();
    const seconds = this.#options.timeout ?? 30;
    const giveUp = (): void => late.abort(new DOMException(`No response within ${seconds} s.`, "TimeoutError"));
    const timer = payload?.isUpload ? 0 : setTimeout(giveUp, Math.min(MAX_TIMER_MS, seconds * 1000));
    const broken = (error: unknown): never => {
      signal?.throwIfAborted();
      if (error instanceof ProblemError) throw error;
      throw new ConnectionError(`${method} ${this.#base}${call.path} failed: ${reasonOf(error)}`, { cause: error });
    };
    try {
      const body = payload?.open();
      const response = await (this.#options.fetch ?? fetch)(this.#urlOf(call), {
        method,
        headers,
        redirect: "manual", // a redirected POST would become a GET
        signal: anyOf([signal, late.signal]) ?? null,
        ...(body === undefined ? {} : { body, ...HALF_DUPLEX }),
      }).catch(broken);
      this.#limits.note(surface, response.headers);
      // At once, because other calls may be sent while the body arrives, and it may not arrive.
      if (response.status === 429) this.#limits.hold(surface, refusalOf(response), cost);
      else this.#limits.spend(surface, cost);
      call.options.onAnswer?.(response);
      if (response.ok) return { value: await read(response).catch(broken) };
      const error = await errorOf(response).catch(broken);
      if (error instanceof RateLimitError) this.#limits.hold(surface, error, cost);
      return { error, retryAfter: retryAfterOf(response.headers) ?? 0 };
    } catch (error) {
      if (error instanceof ConnectionError) return { error, retryAfter: 0 };
      late.abort(); // nobody reads the rest of the response
      throw error;
    } finally {
      clearTimeout(timer);
      payload?.close?.();
    }
  }

  #urlOf({ path, query = {} }: Call): string {
    const given = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) given.set(name, String(value));
    return `${this.#base}${path}${given.size === 0 ? "" : `?${given}`}`;
  }

  #headersOf({ method, headers, payload, options }: Call): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#options.apiKey}`,
      ...(payload?.type === undefined ? {} : { "Content-Type": payload.type }),
      ...(options.ifMatch === undefined ? {} : { "If-Match": options.ifMatch }),
      ...(method === "POST" ? { "Idempotency-Key": options.idempotencyKey ?? crypto.randomUUID() } : {}),
      ...headers,
    };
  }
}

/** `fetch` asks for it with a stream. The types of browsers do not have it. */
const HALF_DUPLEX = { duplex: "half" } as const;

export async function json<T>(response: Response): Promise<T> {
  const body = await response.text();
  try {
    return JSON.parse(body) as T;
  } catch {
    throw unexpected(response);
  }
}

async function nothing(response: Response): Promise<void> {
  await response.body?.cancel();
}

export function anyOf(signals: (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

/** Returns true if the service says that it has not begun the work. */
function isRefusedBeforeWork(error: Error): boolean {
  return error instanceof ProblemError && (error.status < 500 || error.code === "limiter_unavailable");
}

/** Returns true if the call can be sent again after this error, without doing the work twice. */
function mayRepeat({ method, payload, options }: Call, error: Error): boolean {
  if (payload?.spent()) return false;
  if (error instanceof ProblemError) {
    if (error.code === "limiter_unavailable" || error.code === "idempotency_in_flight") return true;
    if (![502, 503, 504].includes(error.status)) return false;
  }
  // With If-Match, the second attempt would fail because the first one changed the ETag.
  return method === "GET" || method === "POST" || options.ifMatch === undefined;
}

/** `fetch` says "fetch failed" and has the reason in its cause. */
function reasonOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  const inner = cause instanceof Error ? cause : error;
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}
