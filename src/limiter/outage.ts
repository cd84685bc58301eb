import { type Problem, problem } from "../problems.ts";

/** The refusal of everything that needs Redis while Redis does not answer. */
export function limiterUnavailable(cause: unknown): Problem {
  return problem("limiter_unavailable", "The rate limits cannot be checked right now. Please try again shortly.", {
    headers: { "Retry-After": "1" },
    cause,
  });
}

/**
 * What Redis answered, or the decision that it did not.
 * @param timeoutMs longest wait, in milliseconds. The operation is not undone: whether it happened is not known.
 * @throws problem `limiter_unavailable` when the time is up or the operation failed in any way.
 */
export async function answerOf<T>(operation: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // This process may have been the busy one, with the answer waiting in its socket: read that first.
      setImmediate(() => reject(new Error(`Redis did not answer within ${timeoutMs} ms`)));
    }, timeoutMs);
  });
  try {
    return await Promise.race([operation, timeout]);
  } catch (error) {
    throw limiterUnavailable(error);
  } finally {
    clearTimeout(timer);
  }
}
