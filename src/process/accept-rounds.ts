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
/** A round in which a replica is behind ends after this many milliseconds. The others wait no longer for it. */
const LONGEST_ROUND_MS = 100;
/** The largest allowance. While a replica stays behind, each round doubles it: new connections matter more than evenness. */
const MOST_WITHOUT_WAITING = 1024;

/** From the supervisor: a replica may accept this many connections, or is asked how many remain of that round. */
export type AcceptOrder = { round: number; allowance: number } | { remainingOf: number };

/** From a replica: that it accepts, that it is about to stop, that it has stopped; or how many remain of its last round. */
export type AcceptReport =
  "accepts" | "leaves" | "left" | { readonly asked?: number; readonly round: number; readonly remaining: number };

interface Member {
  readonly worker: Worker;
  /** Number of its last allowance. */
  round: number;
  /** Whether it has used up its allowance, or has not got it. */
  waits: boolean;
  /** Whether it owes an answer. */
  asked: boolean;
  /** Whether it owes an answer for a whole round. Then nobody waits for it, and it gets no allowance, until it answers. */
  hangs: boolean;
  /** Whether it accepts without limit, because nobody else does. */
  unlimited: boolean;
}

/**
 * Spreads the connections of a port evenly over the replicas, each of which accepts for itself. Left alone, the one that
 * wakes first takes what waits: of 64 connections opened at once, one of four replicas got none. So a replica stops
 * accepting after some connections, and goes on once all others have accepted as many, or are too slow. No connection is
 * ever in the supervisor or on its way between two processes: it waits in the kernel until a replica accepts it.
 */
export class AcceptRounds {
  readonly #port: Pick<SharedPort, "send" | "close">;
  readonly #members = new Map<number, Member>();
  #allowance = FEWEST;
  /** How many connections each replica has accepted in the rounds of this burst. */
  #accepted = 0;
  /** How many rounds of this burst ended because a replica was behind. */
  #late = 0;
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
    if (this.#stopping || worker.isDead()) return;
    const member = { worker, round: 0, waits: false, asked: false, hangs: false, unlimited: false };
    this.#members.set(worker.id, member);
    this.#allow(member);
    this.#endLater();
  }

  #leave(worker: Worker): void {
    const member = this.#members.get(worker.id);
    if (member === undefined || this.#stopping) return;
    const others = [...this.#members.values()].filter((other) => other !== member && !other.hangs);
    // If no other one accepts, connections would wait until its successor has started.
    if (others.length === 0) this.#allow(member, Infinity);
    else this.#remove(worker);
  }

  #remove(worker: Worker): void {
    this.#members.delete(worker.id);
    this.#beginIfAllWait();
    this.#closeIfDone();
  }

  #heard(worker: Worker, { asked, round, remaining }: Exclude<AcceptReport, string>): void {
    const member = this.#members.get(worker.id);
    if (member === undefined) return;
    if (asked !== undefined) member.asked = false;
    member.hangs = false;
    const isUsedUp = round === member.round && remaining === 0;
    // Node drops the message if the replica has no file descriptor left for the port.
    const isLost = asked === member.round && round < asked;
    if (isUsedUp || isLost) member.waits = true;
    this.#beginIfAllWait();
  }

  #beginIfAllWait(): void {
    const all = this.#answering();
    if (all.length > 0 && all.every(({ waits }) => waits)) this.#begin(all, this.#nextAllowance());
    else if (all.some(({ waits }) => waits)) this.#endLater();
  }

  /** Counts the round that ends. @returns how many connections each replica accepts in the next one. */
  #nextAllowance(): number {
    this.#accepted += this.#allowance;
    return Math.min(Math.max(FEWEST, Math.floor(this.#accepted * SHARE)), MOST);
  }

  #begin(members: readonly Member[], allowance: number): void {
    this.#allowance = allowance;
    for (const member of members) this.#allow(member);
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#endLater();
  }

  /** If this process itself stands still, messages of replicas come meanwhile: setImmediate reads them first. */
  #endLater(): void {
    this.#timer ??= setTimeout(() => {
      setImmediate(() => {
        this.#timer = undefined;
        this.#end();
      });
    }, LONGEST_ROUND_MS);
  }

  /**
   * Ends a round that took long. If replicas wait, every replica that answers gets a new allowance; from the second such
   * round of a burst on, it is larger. If none waits, the burst is over. What is left of large allowances is then taken
   * back, because the next burst may be small.
   */
  #end(): void {
    if (this.#stopping) return;
    const behind = this.#answering().filter(({ waits }) => !waits);
    for (const member of behind) member.hangs = member.asked;
    const answering = this.#answering();
    if (answering.some(({ waits }) => waits)) {
      this.#accepted += this.#allowance;
      const larger = this.#late++ === 0 ? 1 : 2;
      this.#begin(answering, Math.min(this.#allowance * larger, MOST_WITHOUT_WAITING));
    } else {
      this.#accepted = 0;
      this.#late = 0;
      if (this.#allowance > FEWEST) this.#begin(answering, FEWEST);
    }
    for (const member of behind) if (!member.hangs) this.#ask(member);
  }

  #ask(member: Member): void {
    member.asked = true;
    const order: AcceptOrder = { remainingOf: member.round };
    member.worker.send({ accept: order }, () => undefined);
  }

  #allow(member: Member, allowance = this.#allowance): void {
    member.round++;
    member.waits = false;
    member.unlimited = allowance === Infinity;
    const order: AcceptOrder = { round: member.round, allowance };
    this.#port.send(member.worker, { accept: order });
  }

  /** Those whose connections are counted, as far as is known. */
  #answering(): Member[] {
    return [...this.#members.values()].filter(({ hangs, unlimited }) => !hangs && !unlimited);
  }

  #closeIfDone(): void {
    if (!this.#stopping || this.#members.size > 0 || this.#closed) return;
    this.#closed = true;
    this.#port.close();
  }
}
