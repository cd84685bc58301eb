import type { Context, Middleware } from "koa";
import { PROBLEMS, Problem, problem } from "../problems.ts";
import type { RequestState } from "../api/state.ts";

/** problem+json (RFC 9457) for every error below it. What is not a Problem is an internal_error, and says nothing of itself. */
export const problems: Middleware<RequestState> = async (ctx, next) => {
  try {
    await next();
  } catch (error) {
    writeProblem(ctx, toProblem(error), error);
  }
};

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  // raw-body and busboy say so when the client went away; nobody reads this answer, but the log does.
  if (error instanceof Error && ["ECONNABORTED", "ECONNRESET"].includes(String((error as NodeJS.ErrnoException).code))) {
    return problem("malformed_request", "The connection closed before the body was here whole.");
  }
  return problem("internal_error", "Something went wrong on our side. The request id finds it in our logs.", { cause: error });
}

function writeProblem(ctx: Context & { state: RequestState }, { code, message, extras }: Problem, cause: unknown): void {
  const { status, title } = PROBLEMS[code];
  if (status >= 500) ctx.state.failure = extras.cause ?? cause;
  ctx.status = status;
  ctx.set(extras.headers ?? {});
  ctx.remove("ETag");
  ctx.body = JSON.stringify({
    type: `/docs#${code}`,
    title,
    status,
    detail: message,
    code,
    request_id: ctx.state.requestId,
    ...extras.members,
    ...(extras.errors === undefined ? {} : { errors: extras.errors }),
  });
  ctx.type = "application/problem+json";
  ctx.set("Cache-Control", "no-store");
}
