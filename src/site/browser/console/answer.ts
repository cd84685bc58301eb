/** What the console does with an answer. */
export type Answer<T> =
  | { readonly kind: "answered"; readonly body: T; readonly headers: Headers }
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly headers: Headers }
  /** No answer came: the network or the service is gone. */
  | { readonly kind: "unreachable" };

/** A problem of the API, and when to ask again. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly requestId: string;
  /** In seconds, from Retry-After; undefined if the same request would be refused again. */
  readonly retryAfter: number | undefined;
}
