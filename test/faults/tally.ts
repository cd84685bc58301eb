import type { LoadAnswer, LoadClient, LoadRequest } from "../support/load.ts";
import type { Outcome } from "./report.ts";

type Counts = Pick<Outcome, "offered" | "admitted" | "refused" | "unavailable" | "failed" | "slowestMs">;

/** The answer to a request, undefined if the connection broke, and its duration. */
export interface Sent {
  readonly answer: LoadAnswer | undefined;
  readonly ms: number;
}

/** Sends requests and counts their outcomes. */
export class Tally {
  offered = 0;
  admitted = 0;
  refused = 0;
  unavailable = 0;
  /** One line for each broken connection and for each answer with any other status. */
  readonly failures: string[] = [];
  slowestMs = 0;
  /** 503 answers without a valid Retry-After header. */
  readonly withoutRetryAfter: LoadAnswer[] = [];
  slowestUnavailableMs = 0;

  async send(load: LoadClient, request: LoadRequest): Promise<Sent> {
    this.offered++;
    const started = performance.now();
    const answer = await load.send(request).catch((error: Error) => {
      this.failures.push(`${request.method} ${request.path}: ${error.message}`);
      return undefined;
    });
    const ms = performance.now() - started;
    this.slowestMs = Math.max(this.slowestMs, ms);
    if (answer !== undefined) this.#count(request, answer, ms);
    return { answer, ms };
  }

  counts(): Counts {
    const { offered, admitted, refused, unavailable, failures, slowestMs } = this;
    return { offered, admitted, refused, unavailable, failed: failures.length, slowestMs: Math.round(slowestMs) };
  }

  #count({ method, path }: LoadRequest, answer: LoadAnswer, ms: number): void {
    const { status, headers, body } = answer;
    if (status >= 200 && status < 300) this.admitted++;
    else if (status === 429) this.refused++;
    else if (status === 503) {
      this.unavailable++;
      this.slowestUnavailableMs = Math.max(this.slowestUnavailableMs, ms);
      if (!/^\d+$/.test(String(headers["retry-after"]))) this.withoutRetryAfter.push(answer);
    } else this.failures.push(`${method} ${path}: ${status} ${body.slice(0, 300)}`);
  }
}
