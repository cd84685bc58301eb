import { waitedForCpuMs } from "../support/cpu-time.ts";
import type { LoadAnswer, LoadClient, LoadRequest } from "../support/load.ts";

/** Sends requests and counts their outcomes. */
export class Tally {
  offered = 0;
  admitted = 0;
  refused = 0;
  unavailable = 0;
  /** One line for each broken connection and for each response with any other status. */
  readonly failures: string[] = [];
  /** 503 responses without a valid Retry-After header. */
  readonly withoutRetryAfter: LoadAnswer[] = [];
  /** The slowest 503, in milliseconds, less the time that this process and a replica waited for a CPU. */
  slowestUnavailableMs = 0;
  readonly #replicas: readonly number[];

  /** @param replicas the process ids of those that respond. Without them, only the waiting of this process is taken off. */
  constructor(replicas: readonly (number | undefined)[] = []) {
    this.#replicas = replicas.filter((pid) => pid !== undefined);
  }

  /** @returns the response, or undefined if the connection broke. */
  async send(load: LoadClient, request: LoadRequest): Promise<{ readonly response: LoadAnswer | undefined }> {
    this.offered++;
    const started = performance.now();
    const waited = this.#waited();
    const response = await load.send(request).catch((error: Error) => {
      this.failures.push(`${request.method} ${request.path}: ${error.message}`);
      return undefined;
    });
    if (response !== undefined) this.#count(request, response, performance.now() - started, waited);
    return { response };
  }

  /** For how long this process and each replica have waited for a CPU so far, in milliseconds. */
  #waited(): number[] {
    return [process.pid, ...this.#replicas].map(waitedForCpuMs);
  }

  #count({ method, path }: LoadRequest, response: LoadAnswer, ms: number, before: readonly number[]): void {
    const { status, headers, body } = response;
    if (status >= 200 && status < 300) this.admitted++;
    else if (status === 429) this.refused++;
    else if (status === 503) {
      this.unavailable++;
      const [own = 0, ...theirs] = this.#waited().map((waited, index) => waited - before[index]!);
      this.slowestUnavailableMs = Math.max(this.slowestUnavailableMs, ms - own - Math.max(0, ...theirs));
      if (!/^\d+$/.test(String(headers["retry-after"]))) this.withoutRetryAfter.push(response);
    } else this.failures.push(`${method} ${path}: ${status} ${body.slice(0, 300)}`);
  }
}
