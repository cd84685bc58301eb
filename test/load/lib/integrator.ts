import { askFor } from "./asks.ts";
import { jsonOf, textOf } from "./contract.ts";
import type { Outcome } from "./host.ts";
import type { Ask, Run } from "./run.ts";

/** One client of the service, which keeps a cursor, ETags and the ids that it knows. */
export class Integrator {
  readonly #run: Run;
  readonly #key: number;
  readonly #name: string;
  readonly #etags = new Map<string, string>();
  #feed: string;
  #newest: string | undefined;
  #creating: Promise<Outcome> | undefined;
  #sent = 0;

  /** @param name makes the Idempotency-Keys unique. */
  constructor(run: Run, key: number, name: string) {
    this.#run = run;
    this.#key = key;
    this.#name = name;
    this.#feed = `/candidates?updated_since=${new Date().toISOString()}`;
  }

  /** Sends the next request of a surface. Creates a candidate instead if the request needs one and there is none. */
  async act(surface: string): Promise<Outcome> {
    this.#sent++;
    if (surface === "create") return this.#create();
    if (surface === "list") return this.#poll();
    if (surface === "settings") return this.#run.send(askFor("settings", this.#key, ""));
    const candidate = this.#newest;
    if (candidate === undefined) return (this.#creating ??= this.#create().finally(() => (this.#creating = undefined)));
    if (surface === "reads") return this.#read(candidate);
    if (surface === "writes") return this.#run.send(this.#write(candidate));
    return this.#run.send(askFor(surface, this.#key, candidate));
  }

  async #create(): Promise<Outcome> {
    const outcome = await this.#run.send({
      method: "POST",
      path: "/candidates",
      surface: "create",
      key: this.#key,
      json: { name: "Load test", documents: ["Passport", "Diploma"], references: [{ email: "referee@example.com" }] },
      headers: { "Idempotency-Key": `${this.#name}-${this.#sent}` },
    });
    if (outcome.verdict === "admitted") this.#newest = textOf(outcome.answer.body, "id") || this.#newest;
    return outcome;
  }

  /** Asks for what has changed since the last time. */
  async #poll(): Promise<Outcome> {
    const outcome = await this.#run.send({ method: "GET", path: this.#feed, surface: "list", key: this.#key });
    const cursor = jsonOf(outcome.answer.body)["cursor"];
    if (typeof cursor === "string") this.#feed = `/candidates?cursor=${encodeURIComponent(cursor)}`;
    return outcome;
  }

  /** Reads a candidate, whole only if it has changed. */
  async #read(candidate: string): Promise<Outcome> {
    const etag = this.#etags.get(candidate);
    const headers: Record<string, string> = etag === undefined ? {} : { "If-None-Match": etag };
    const outcome = await this.#run.send({ ...askFor("reads", this.#key, candidate), headers });
    const seen = outcome.answer.headers["etag"];
    if (seen !== undefined) this.#etags.set(candidate, seen);
    return outcome;
  }

  /** The four writes in turn. */
  #write(candidate: string): Ask {
    const of = (method: string, path: string, json: unknown): Ask => ({
      method,
      path: `/candidates/${candidate}${path}`,
      surface: "writes",
      key: this.#key,
      json,
    });
    const writes = [
      of("PATCH", "", { job_title: `Engineer ${this.#sent}` }),
      of("POST", "/documents", { name: "Work permit" }),
      of("POST", "/references", { email: "colleague@example.com" }),
      of("PATCH", "/outreach", { docs_chase_attempts: this.#sent % 10 }),
    ];
    return writes[this.#sent % writes.length]!;
  }
}
