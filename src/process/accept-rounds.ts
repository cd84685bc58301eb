import type { Worker } from "node:cluster";
import type { SharedPort } from "./shared-port.ts";

/**
 * How many connections a replica accepts in a round of a service that was quiet. When a burst begins, a replica may have one
 * left of the round and another all; when it ends, one may have taken all of its round and another none. So of 64
 * connections over four replicas, 13 and 18 is the worst.
 */
const FEWEST = 3;
/** After many rounds, a larger allowance spreads as evenly, relative to what each has accepted, and costs less. */
const MOST = 16;
/** A round is at most this share of what each replica has accepted since the burst began. */
const SHARE = 1 / 4;
/** A burst is over when FEWEST connections of each replica take longer than this many milliseconds. */
const QUIET_MS = 100;
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
 * accepting after some connections, and goes on once all others have accepted as many, or hang. No connection is ever in
 * the supervisor or on its way between two processes: it waits in the kernel until a replica accepts it.
 */
export class AcceptRounds {
  readonly #port: Pick<SharedPort, "send" | "close">;
  readonly #members = new Map<number, Member>();
  #allowance = FEWEST;
  #roundBegan = 0;
  /** How many connections each replica has accepted in the rounds of this burst. */
  #accepted = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopping = false;
  #closed = false;

  constructor(port: Pick<SharedPort, "send" | "close">) {
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
    this.#askLater();
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
    this.#nextRound();
    this.#closeIfDone();
  }

  #heard(worker: Worker, { asked, round, remaining }: Exclude<AcceptReport, string>): void {
    const member = this.#members.get(worker.id);
    if (member === undefined) return;
    if (asked !== undefined) member.asked = false;
    member.hangs = false;
    if (round === member.round && remaining === 0) member.waits = true;
    else if (asked === member.round && round < asked) this.#sendAgain(member);
    this.#nextRound();
  }

  /** Begins a round if no replica has to be waited for. */
  #nextRound(): void {
    const all = [...this.#members.values()];
    const waiting = all.filter(({ waits }) => waits);
    if (waiting.length === 0) return;
    if (all.every(({ waits, hangs, unlimited }) => waits || hangs || unlimited)) {
      const quiet = performance.now() - this.#roundBegan > this.#quietMs();
      this.#begin(waiting, quiet ? 0 : this.#accepted + this.#allowance);
    } else this.#askLater();
  }

  #begin(members: Iterable<Member>, accepted: number): void {
    this.#accepted = accepted;
    this.#allowance = Math.min(Math.max(FEWEST, Math.floor(accepted * SHARE)), MOST);
    this.#roundBegan = performance.now();
    for (const member of members) this.#allow(member);
    if (this.#allowance > FEWEST) {
      clearTimeout(this.#timer);
      this.#timer = this.#later(() => this.#endBurst(), this.#quietMs());
    } else this.#askLater();
  }

  /** A round that takes longer than this is not part of a burst. */
  #quietMs(): number {
    return (QUIET_MS * this.#allowance) / FEWEST;
  }

  /** Takes back what is left of large allowances: the next burst may be small. */
  #endBurst(): void {
    this.#begin(
      [...this.#members.values()].filter(({ hangs, unlimited }) => !hangs && !unlimited),
      0,
    );
  }

  #allow(member: Member, allowance = this.#allowance): void {
    member.round++;
    member.waits = false;
    member.unlimited = allowance === Infinity;
    this.#send(member, allowance);
  }

  #send({ worker, round }: Member, allowance: number): void {
    this.#port.send(worker, { accept: { round, allowance } satisfies AcceptOrder });
  }

  /** Node drops the message if the replica has no file descriptor left for the port. */
  #sendAgain(member: Member): void {
    this.#send(member, this.#allowance);
    this.#askLater();
  }

  /** If this process itself stands still, messages of replicas come meanwhile: setImmediate reads them first. */
  #later(act: () => void, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#timer = undefined;
      setImmediate(act);
    }, ms);
  }

  #askLater(): void {
    this.#timer ??= this.#later(() => this.#ask(), HANGS_AFTER_MS);
  }

  /** Finds replicas that hang, and those that have not got their allowance. */
  #ask(): void {
    for (const member of this.#members.values()) {
      if (member.waits || member.hangs || member.unlimited) continue;
      if (member.asked) member.hangs = true;
      else {
        member.asked = true;
        const order: AcceptOrder = { remainingOf: member.round };
        member.worker.send({ accept: order }, () => undefined);
      }
    }
    this.#nextRound();
  }

  #closeIfDone(): void {
    if (!this.#stopping || this.#members.size > 0 || this.#closed) return;
    this.#closed = true;
    this.#port.close();
  }
}
