import type { Context, Middleware } from "koa";
import { PROBLEMS, Problem, problem } from "../problems.ts";
import type { RequestState } from "./request.ts";
import { sendText } from "./send-text.ts";

/** Returns the body of a problem+json answer (RFC 9457, 3). */
export function problemDocument({ code, message, extras }: Problem, requestId: string): string {
  const { status, title } = PROBLEMS[code];
  return JSON.stringify({
    type: `/docs#${code}`,
    title,
    status,
    detail: message,
    code,
    request_id: requestId,
    ...extras.members,
    ...(extras.errors === undefined ? {} : { errors: extras.errors }),
  });
}

/**
 * Answers every error of later middleware with problem+json. An error that is not a Problem becomes internal_error,
 * without details.
 */
export const problems: Middleware<RequestState> = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    await writeProblem(ctx, toProblem(error), error);
  }
};

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // The client has disconnected. Nobody reads this answer, but the log records it.
  if (
    error instanceof Error &&
    ["ECONNABORTED", "ECONNRESET"].includes(String((error as NodeJS.ErrnoException).code))
  ) {
    return problem(
      "malformed_request",
      "The connection closed before the whole body had arrived. Send the request again.",
    );
  }
  return problem("internal_error", "Something went wrong on our side. Quote the request_id when you contact support.", {
    cause: error,
  });
}

async function writeProblem(ctx: Context & { state: RequestState }, refused: Problem, cause: unknown): Promise<void> {
  const { status, extras } = refused;
  if (status >= 500) ctx.state.failure = extras.cause ?? cause;
  ctx.status = status;
  ctx.set(extras.headers ?? {});
  ctx.remove("ETag");
  ctx.set("Content-Type", "application/problem+json");
  ctx.set("Cache-Control", "no-store");
  await sendText(ctx, problemDocument(refused, ctx.state.requestId));
}
