import type { Worker } from "node:cluster";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { acceptUntilQuiet } from "./drain.ts";

/** A replica that has not taken a connection within this many milliseconds hangs. The others get what waits for it. */
const HANGS_AFTER_MS = 1_000;
/** As many connections wait for replicas at most, about as many as in a listen backlog. Further ones are closed. */
const MAX_WAITING = 1_000;

/** What the supervisor tells a replica about connections. A `connection` comes with its socket, unless it broke on its way. */
export type HandOutMessage = { handOut: "connection" | "no more" };
/** What a replica answers: that it has taken a connection, or that it wants no more because it stops. */
export type TakerMessage = { taker: "taken" | "leaving" };

/** A replica that takes connections. */
interface Taker {
  readonly worker: Worker;
  /** They were accepted, and are not on their way yet. */
  readonly waiting: Socket[];
  /** Set while a connection is on its way. Only one is at a time, so that the others can still go elsewhere. */
  onItsWay: { readonly socket: Socket; readonly timer: NodeJS.Timeout } | undefined;
  /** Whether it has not taken that connection in time. */
  hangs: boolean;
  /** Whether it stops, and would rather have no more. */
  leaving: boolean;
}

/**
 * Accepts the connections of a port and hands them to the replicas strictly in turn. If each replica accepted for itself,
 * those that wake first would take all: of 64 connections opened at once, one of four replicas got none. After a
 * connection is handed over, its requests do not pass the supervisor. If a replica exits while a connection is on its
 * way to it, the connection is closed.
 */
export class HandOut {
  readonly #takers = new Map<number, Taker>();
  /** Connections that came while there was no replica. */
  #orphans: Socket[] = [];
  readonly #server: Server;
  #turn = 0;
  #closing = false;
  #closed = false;

  constructor() {
    this.#server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
      socket.on("error", () => undefined); // it broke while it waited
      this.#give(socket);
    });
    this.#server.maxConnections = MAX_WAITING; // those that were handed over do not count
  }

  /** @returns the port. @throws if it is taken. */
  async listen(port: number, host: string): Promise<number> {
    this.#server.listen(port, host);
    await once(this.#server, "listening");
    return (this.#server.address() as AddressInfo).port;
  }

  /** Hands connections to this replica, until it leaves or exits. */
  add(worker: Worker): void {
    const taker: Taker = { worker, waiting: [], onItsWay: undefined, hangs: false, leaving: false };
    this.#takers.set(worker.id, taker);
    worker.on("message", ({ taker: said }: Partial<TakerMessage>) => {
      if (said === "taken") this.#taken(taker);
      if (said === "leaving") {
        taker.leaving = true;
        this.#releaseLeaving();
      }
    });
    worker.once("exit", () => {
      this.#takers.delete(worker.id);
      this.#arrived(taker); // it may have read the request, so nobody else can answer it
      this.#giveAgain(taker);
    });
    for (const socket of this.#orphans.splice(0)) this.#give(socket);
    this.#releaseLeaving();
  }

  /** Accepts connections until no more come, and stops listening. Then tells the replicas that no more will come. */
  async close(): Promise<void> {
    this.#closing = true;
    if (this.#server.listening) {
      await acceptUntilQuiet(this.#server);
      this.#server.close();
    }
    this.#closed = true;
    this.#releaseLeaving();
  }

  #give(socket: Socket): void {
    const taker = this.#next();
    if (taker === undefined) this.#orphans.push(socket);
    else {
      taker.waiting.push(socket);
      this.#sendNext(taker);
    }
  }

  /** Returns the replica whose turn it is: one that serves, if there is one. */
  #next(): Taker | undefined {
    const all = [...this.#takers.values()];
    const serving = all.filter(({ leaving }) => !leaving);
    const prompt = serving.filter(({ hangs }) => !hangs);
    const fit = [prompt, serving, all].find(({ length }) => length > 0) ?? [];
    return fit[this.#turn++ % fit.length];
  }

  #sendNext(taker: Taker): void {
    if (taker.onItsWay !== undefined) return;
    const socket = taker.waiting.shift();
    if (socket !== undefined) this.#send(taker, socket);
    else if (this.#closed) this.#release(taker);
  }

  #send(taker: Taker, socket: Socket): void {
    const timer = setTimeout(() => {
      taker.hangs = true;
      this.#giveAgain(taker);
    }, HANGS_AFTER_MS);
    taker.onItsWay = { socket, timer };
    // Node would close the socket here once it has arrived, but never if the replica exits before.
    taker.worker.send({ handOut: "connection" } satisfies HandOutMessage, socket, { keepOpen: true }, (error) => {
      if (error === null) return;
      this.#takers.delete(taker.worker.id); // its channel is closed: it exits
      taker.waiting.unshift(socket);
      clearTimeout(timer);
      taker.onItsWay = undefined;
      this.#giveAgain(taker);
    });
  }

  /** Closes the supervisor's own descriptor of what is on its way. It stays open in the replica. */
  #arrived(taker: Taker): void {
    clearTimeout(taker.onItsWay?.timer);
    taker.onItsWay?.socket.destroy();
    taker.onItsWay = undefined;
    taker.hangs = false;
  }

  #taken(taker: Taker): void {
    this.#arrived(taker);
    this.#sendNext(taker);
  }

  /** Gives what waits for a replica to others. */
  #giveAgain(taker: Taker): void {
    for (const socket of taker.waiting.splice(0)) this.#give(socket);
  }

  /** Lets replicas that stop go, if others serve. Otherwise they take connections until a new replica does. */
  #releaseLeaving(): void {
    const all = [...this.#takers.values()];
    if (this.#closed) for (const taker of all) this.#sendNext(taker);
    else if (!this.#closing && all.some(({ leaving }) => !leaving))
      for (const taker of all.filter(({ leaving }) => leaving)) this.#release(taker);
  }

  #release(taker: Taker): void {
    this.#takers.delete(taker.worker.id);
    this.#giveAgain(taker);
    taker.worker.send({ handOut: "no more" } satisfies HandOutMessage, () => undefined);
  }
}
