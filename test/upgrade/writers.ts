import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { Surface } from "../../src/limiter/surfaces.ts";
import type { ProblemCode } from "../../src/problems.ts";
import { Lanes } from "../faults/replicas/lanes.ts";
import { type LoadAnswer, LoadClient, type LoadRequest } from "../support/load.ts";

/** Two responses to one request with an Idempotency-Key, by their request ids. */
export interface Replay {
  readonly first: string;
  readonly second: string;
}

const LANES = 4;

type Step = Omit<LoadRequest, "key"> & { surface: Surface; status: number };

/** Clients that take one candidate after the other through a pipeline, and send every create a second time. */
export class Writers {
  /** The last response about each candidate. */
  readonly acknowledged = new Map<string, Candidate>();
  readonly replays: Replay[] = [];
  /** Requests sent, by surface. */
  readonly offered: Partial<Record<Surface, number>> = {};
  /** Broken connections, and responses that are not the expected one. */
  readonly failures: string[] = [];
  readonly #load: LoadClient;
  /** Opens a connection for each request, so another process often serves the replay. */
  readonly #other: LoadClient;
  readonly #key: string;

  constructor(url: string, load: LoadClient, key: string) {
    this.#load = load;
    this.#other = new LoadClient(url, LANES, false);
    this.#key = key;
  }

  start(): Lanes {
    return new Lanes(LANES, (lane, turn) => this.#pipeline(`${lane}-${turn}`));
  }

  async #pipeline(name: string): Promise<void> {
    const body = JSON.stringify({ name, documents: ["CV"], references: [{ name: "Ann" }] });
    const headers = { "Idempotency-Key": randomUUID() };
    const create = { surface: "create", method: "POST", path: "/candidates", body, headers, status: 201 } as const;
    const created = await this.#send(create);
    const again = await this.#sendAgain(create);
    if (created === undefined || again === undefined) return;
    if (again.headers["idempotent-replayed"] !== "true" || again.body !== created.body)
      this.failures.push(`The create of ${name} was not replayed: ${again.body}`);
    this.replays.push({ first: requestIdOf(created), second: requestIdOf(again) });

    const candidate = JSON.parse(created.body) as Candidate;
    this.acknowledged.set(candidate.id, candidate);
    const path = `/candidates/${candidate.id}`;
    const content = `${path}/documents/${candidate.documents[0]?.id}/content`;
    const seen = { "If-Match": String(created.headers.etag) };
    await this.#send({
      surface: "writes",
      method: "PATCH",
      path,
      body: `{"job_title":"${name}"}`,
      headers: seen,
      status: 200,
    });
    await this.#send({
      surface: "writes",
      method: "PUT",
      path: content,
      body: name,
      headers: { "Content-Type": "text/plain" },
      status: 200,
    });
    const downloaded = await this.#send({ surface: "reads", method: "GET", path: content, status: 200 });
    if (downloaded !== undefined && downloaded.body !== name)
      this.failures.push(`The content of ${name} is ${downloaded.body}`);
    await this.#send({ surface: "start", method: "POST", path: `${path}/start`, status: 200 });
    const reference = `/references/${candidate.references[0]?.id}`;
    await this.#send({
      surface: "writes",
      method: "PATCH",
      path: reference,
      body: '{"state":"received"}',
      status: 200,
    });
    const last = await this.#send({ surface: "reads", method: "GET", path, status: 200 });
    if (last !== undefined) this.acknowledged.set(candidate.id, JSON.parse(last.body) as Candidate);
  }

  /** Sends a request again at once, when its response may not be stored yet. To 0.1.0 it is in flight until then. */
  async #sendAgain(step: Step): Promise<LoadAnswer | undefined> {
    for (;;) {
      const response = await this.#send(step, this.#other, "idempotency_in_flight");
      if (response?.status !== 409) return response;
      await setTimeout(Number(response.headers["retry-after"]) * 1_000);
    }
  }

  /**
   * @param code of a problem that is expected too.
   * @returns the response if it is an expected one.
   */
  async #send(
    { surface, status, ...request }: Step,
    load = this.#load,
    code?: ProblemCode,
  ): Promise<LoadAnswer | undefined> {
    this.offered[surface] = (this.offered[surface] ?? 0) + 1;
    const what = `${request.method} ${request.path}`;
    const response = await load.send({ ...request, key: this.#key }).catch((error: Error) => error);
    const isExpected = (given: LoadAnswer) => given.status === status || given.body.includes(`"code":"${code}"`);
    if (!(response instanceof Error) && isExpected(response)) return response;
    this.failures.push(
      response instanceof Error ? `${what}: ${response.message}` : `${what}: ${response.status} ${response.body}`,
    );
    return undefined;
  }
}

function requestIdOf({ headers }: LoadAnswer): string {
  return String(headers["x-request-id"]);
}
