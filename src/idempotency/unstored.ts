import { setTimeout } from "node:timers/promises";
import { describeFailure } from "../infra/log.ts";

/**
 * Maximum size of the answers that wait for their storing, in characters of JSON. Each waits for at most three store
 * operations, so the size reaches this only if MongoDB or the compression is slower than the requests.
 */
const MAX_SIZE = 8 * 1024 * 1024;

export type FailureLog = { error(fields: object, message: string): void };

/** Outcomes that are being stored after their answers were given. */
export class Unstored {
  readonly #log: FailureLog | undefined;
  /** Keys are the ids of records. The promises never fail. */
  readonly #pending = new Map<string, Promise<void>>();
  #size = 0;

  /** @param log gets failures other than store_unavailable: no request is left that could answer 500. */
  constructor(log?: FailureLog) {
    this.#log = log;
  }

  /**
   * Adds an outcome that is being stored.
   * @param size the size of its answer, in characters of JSON.
   * @returns false if there is no room for it. The caller must then wait for `storing` itself.
   */
  add(recordId: string, size: number, storing: Promise<unknown>): boolean {
    if (this.#size + size > MAX_SIZE) return false;
    this.#size += size;
    const ended = Promise.all([this.#pending.get(recordId), this.#end(storing, size)]).then(() => {
      if (this.#pending.get(recordId) === ended) this.#pending.delete(recordId);
    });
    this.#pending.set(recordId, ended);
    return true;
  }

  /** Waits until no outcome of this record is being stored. Gives up after `withinMs` milliseconds. */
  async settled(recordId: string, withinMs: number): Promise<void> {
    const pending = this.#pending.get(recordId);
    if (pending !== undefined) await within(withinMs, pending);
  }

  /** Waits until nothing is being stored. Gives up after `withinMs` milliseconds. */
  async allSettled(withinMs: number): Promise<void> {
    await within(withinMs, Promise.all(this.#pending.values()));
  }

  async #end(storing: Promise<unknown>, size: number): Promise<void> {
    try {
      await storing;
    } catch (error) {
      this.#log?.error({ error: describeFailure(error) }, "an answer could not be stored for replays");
    } finally {
      this.#size -= size;
    }
  }
}

async function within(ms: number, ended: Promise<unknown>): Promise<void> {
  await Promise.race([ended, setTimeout(ms, undefined, { ref: false })]);
}
