/** The result of a request of the console. */
export type Result<T> =
  | { readonly kind: "ok"; readonly body: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** No response came: the network or the service is gone. */
  | { readonly kind: "unreachable" };

export type Failure = Exclude<Result<unknown>, { kind: "ok" }>;

export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  /** In seconds, from Retry-After; undefined if the same request would be refused again. */
  readonly retryAfter: number | undefined;
}

/** Says in a sentence why a request failed. */
export function inWords(failure: Failure): string {
  if (failure.kind === "unreachable") return "The service cannot be reached.";
  const { title, detail } = failure.refusal;
  return `${title}. ${detail}`;
}
