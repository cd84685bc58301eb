import type { Context } from "koa";
import { PROBLEMS, Problem, problem, type Refusal } from "../problems.ts";
import type { RequestState } from "./request.ts";
import { sendText } from "./send-text.ts";

type Ctx = Context & { state: RequestState };

/** Returns the body of a problem+json answer (RFC 9457, 3). */
export function problemDocument({ code, detail, extras }: Refusal, requestId: string): string {
  const { status, title } = PROBLEMS[code];
  const document: Record<string, unknown> = {
    type: `/docs#${code}`,
    title,
    status,
    detail,
    code,
    request_id: requestId,
  };
  // Not spread: refusals come in floods, and a spread takes several times as long.
  for (const name in extras.members) document[name] = extras.members[name];
  if (extras.errors !== undefined) document["errors"] = extras.errors;
  return JSON.stringify(document);
}

/** Answers an error with problem+json. An error that is not a Problem becomes internal_error, without details. */
export function answerProblem(ctx: Ctx, error: unknown): Promise<void> | undefined {
  const refused = toProblem(error);
  if (refused.status >= 500) ctx.state.failure = refused.extras.cause ?? error;
  return answerRefusal(ctx, refused);
}

/** Answers with problem+json, instead of anything that was set before. */
export function answerRefusal(ctx: Ctx, refused: Refusal): Promise<void> | undefined {
  const { code, extras } = refused;
  const { res } = ctx;
  ctx.status = PROBLEMS[code].status;
  for (const name in extras.headers) res.setHeader(name, extras.headers[name]!);
  res.removeHeader("ETag");
  res.setHeader("Content-Type", "application/problem+json");
  res.setHeader("Cache-Control", "no-store");
  return sendText(ctx, problemDocument(refused, ctx.state.requestId));
}

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
