import type { Worker } from "node:cluster";
import type { SharedPort } from "./shared-port.ts";

/**
 * How many connections a replica accepts in a round. Between any two moments, two replicas' counts differ by at most
 * twice this less one: the first may have had one left of a round, the second all, and likewise at the end. 64 connections
 * over four replicas are at the worst 13 and 18.
 */
export const ALLOWANCE = 3;
/** A replica that has not answered within this many milliseconds hangs, and the others do not wait for it. */
const HANGS_AFTER_MS = 250;

/** From the supervisor: a replica may accept this many connections, or is asked how many remain of that round. */
export type AcceptOrder = { round: number; allowance: number } | { remainingOf: number };

/** From a replica: that it accepts, that it is about to stop, that it has stopped; or how many remain of its last round. */
export type AcceptReport =
  "accepts" | "leaves" | "left" | { readonly asked?: number; readonly round: number; readonly remaining: number };

interface Member {
  readonly worker: Worker;
  /** Number of its last allowance. */
  round: number;
  /** Whether it has used up its allowance. */
  waits: boolean;
  asked: boolean;
  hangs: boolean;
  /** Whether it accepts without limit, because nobody else does. */
  unlimited: boolean;
}

/**
 * Spreads the connections of a port evenly over the replicas, each of which accepts for itself. Left alone, the one that
 * wakes first takes what waits: of 64 connections opened at once, one of four replicas got none. So a replica stops
 * accepting after ALLOWANCE connections, and goes on once all others have accepted as many, or hang. No connection is ever
 * in the supervisor or on its way between two processes: it waits in the kernel until a replica accepts it.
 */
export class AcceptRounds {
  readonly #port: SharedPort;
  readonly #members = new Map<number, Member>();
  #asksSoon = false;
  #stopping = false;
  #closed = false;

  constructor(port: SharedPort) {
    this.#port = port;
  }

  /** Call it as soon as the worker is forked: it listens to what the worker will report. */
  watch(worker: Worker): void {
    worker.on("message", ({ accept }: { accept?: AcceptReport }) => {
      if (accept === "accepts") this.#join(worker);
      else if (accept === "leaves") this.#leave(worker);
      else if (accept === "left") this.#remove(worker);
      else if (accept !== undefined) this.#heard(worker, accept);
    });
    worker.once("exit", () => this.#remove(worker));
  }

  /** Lets every replica accept what it can. Closes the port once all have stopped. */
  stop(): void {
    this.#stopping = true;
    for (const member of this.#members.values()) this.#allow(member, Infinity);
    this.#closeIfDone();
  }

  #join(worker: Worker): void {
    if (this.#stopping) return;
    const member = { worker, round: 0, waits: false, asked: false, hangs: false, unlimited: false };
    this.#members.set(worker.id, member);
    this.#allow(member);
    this.#askLater(); // the first allowance could be lost
  }

  #leave(worker: Worker): void {
    const member = this.#members.get(worker.id);
    if (member === undefined || this.#stopping) return;
    // If it is the only one, connections would wait until its successor has started.
    if (this.#members.size === 1) this.#allow(member, Infinity);
    else this.#remove(worker);
  }

  #remove(worker: Worker): void {
    this.#members.delete(worker.id);
    this.#startRound();
    this.#closeIfDone();
  }

  #heard(worker: Worker, { asked, round, remaining }: Exclude<AcceptReport, string>): void {
    const member = this.#members.get(worker.id);
    if (member === undefined) return;
    if (asked !== undefined) member.asked = false;
    member.hangs = false;
    if (round === member.round && remaining === 0) member.waits = true;
    // Node drops the message if the replica has no file descriptor left for the port.
    else if (asked === member.round && round < asked) this.#send(member, ALLOWANCE);
    this.#startRound();
  }

  /** Lets replicas accept again if none has to be waited for. */
  #startRound(): void {
    const all = [...this.#members.values()];
    const waiting = all.filter(({ waits }) => waits);
    if (waiting.length === 0) return;
    if (all.every(({ waits, hangs, unlimited }) => waits || hangs || unlimited))
      for (const member of waiting) this.#allow(member);
    else this.#askLater();
  }

  #allow(member: Member, allowance = ALLOWANCE): void {
    member.round++;
    member.waits = false;
    member.unlimited = allowance === Infinity;
    this.#send(member, allowance);
  }

  #send({ worker, round }: Member, allowance: number): void {
    this.#port.send(worker, { accept: { round, allowance } satisfies AcceptOrder });
  }

  /** Finds replicas that hang while others wait for them. */
  #askLater(): void {
    if (this.#asksSoon) return;
    this.#asksSoon = true;
    // If this process itself stood still, answers have come meanwhile: setImmediate reads them first.
    setTimeout(() => setImmediate(() => this.#ask()), HANGS_AFTER_MS);
  }

  #ask(): void {
    this.#asksSoon = false;
    for (const member of this.#members.values()) {
      if (member.waits || member.hangs || member.unlimited) continue;
      if (member.asked) member.hangs = true;
      else {
        member.asked = true;
        const order: AcceptOrder = { remainingOf: member.round };
        member.worker.send({ accept: order }, () => undefined);
      }
    }
    this.#startRound();
  }

  #closeIfDone(): void {
    if (!this.#stopping || this.#members.size > 0 || this.#closed) return;
    this.#closed = true;
    this.#port.close();
  }
}
