import { type Problem, problem } from "../problems.ts";

/** Returns the problem for everything that needs Redis while Redis does not answer. */
export function limiterUnavailable(cause: unknown): Problem {
  return problem("limiter_unavailable", "The rate limits cannot be checked right now. Please try again shortly.", {
    headers: { "Retry-After": "1" },
    cause,
  });
}

/**
 * Returns Redis's answer.
 * @param timeoutMs longest wait, in milliseconds. The operation is not undone afterwards, and may have happened.
 * @throws problem `limiter_unavailable` if the operation fails or takes longer than `timeoutMs`.
 */
export async function answerOf<T>(operation: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      // This process itself may have been busy, and the answer may wait in its socket. Read that first.
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
