import type { LoadAnswer, LoadClient, LoadRequest } from "../support/load.ts";

/** Sends requests and counts their outcomes. */
export class Tally {
  offered = 0;
  admitted = 0;
  refused = 0;
  unavailable = 0;
  /** One line for each broken connection and for each answer with any other status. */
  readonly failures: string[] = [];
  /** 503 answers without a valid Retry-After header. */
  readonly withoutRetryAfter: LoadAnswer[] = [];
  slowestUnavailableMs = 0;

  /** @returns the answer, or undefined if the connection broke. */
  async send(load: LoadClient, request: LoadRequest): Promise<{ readonly answer: LoadAnswer | undefined }> {
    this.offered++;
    const started = performance.now();
    const answer = await load.send(request).catch((error: Error) => {
      this.failures.push(`${request.method} ${request.path}: ${error.message}`);
      return undefined;
    });
    if (answer !== undefined) this.#count(request, answer, performance.now() - started);
    return { answer };
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
