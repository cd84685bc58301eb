/** The result of a request of the console. */
export type Result<T> =
  | { readonly kind: "ok"; readonly body: T }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  /** No response came: the network or the service is gone. */
  | { readonly kind: "unreachable" };

export type Failure = Exclude<Result<unknown>, { kind: "ok" }>;

export type Refusal = Awaited<ReturnType<typeof refusalOf>>;

/** A day, in seconds. A proxy may name any number; a timer and a date would overflow. */
const MAX_RETRY_AFTER = 86_400;

/** Reads why a request was refused. A proxy in between may send a body that is not a problem document. */
export async function refusalOf(response: Response) {
  const { status, headers } = response;
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const body: unknown = await response.json().catch(() => null);
  const problem: Record<string, unknown> = typeof body === "object" ? { ...body } : {};
  const textOf = (name: string, fallback: string) => {
    const value = problem[name];
    return typeof value === "string" ? value : fallback;
  };
  return {
    status,
    code: textOf("code", "unknown"),
    title: textOf("title", `The response has the status ${status}`),
    detail: textOf("detail", ""),
    requestId: headers.get("X-Request-Id") ?? "",
    /** In seconds, from Retry-After; undefined if the same request would be refused again. */
    retryAfter: seconds >= 0 ? Math.min(seconds, MAX_RETRY_AFTER) : undefined,
  };
}

/** Says in a sentence why a request failed. */
export function inWords(failure: Failure): string {
  if (failure.kind === "unreachable") return "The service cannot be reached.";
  const { title, detail } = failure.refusal;
  return `${title}. ${detail}`;
}
