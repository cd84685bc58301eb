import type { Context } from "koa";
import { PROBLEMS, Problem, problem, type Refusal } from "../problems.ts";
import { sendText } from "./response.ts";
import type { RequestState } from "./request.ts";

type Ctx = Context & { state: RequestState };

/** The text of each refusal before and after the request's id: many are given again. */
const texts = new WeakMap<Refusal, readonly [before: string, after: string]>();

const DISCONNECTED = "The connection closed before the whole body had arrived. Send the request again.";

const ID_MEMBER = '"request_id":"';

/** Returns the body of a problem+json response (RFC 9457, 3). @param requestId has no character that JSON escapes. */
export function problemDocument(refused: Refusal, requestId: string): string {
  let text = texts.get(refused);
  if (text === undefined) {
    const whole = JSON.stringify(problemMembers(refused, ""));
    // Quotes inside a text are escaped, so this is the member.
    const at = whole.indexOf(ID_MEMBER) + ID_MEMBER.length;
    texts.set(refused, (text = [whole.slice(0, at), whole.slice(at)]));
  }
  return text[0] + requestId + text[1];
}

/** Returns the members of a problem (RFC 9457, 3). */
export function problemMembers({ code, detail, extras }: Refusal, requestId: string): Record<string, unknown> {
  const { status, title } = PROBLEMS[code];
  const { members, errors } = extras;
  return { type: `/docs#${code}`, title, status, detail, code, request_id: requestId, ...members, errors };
}

/** Sends problem+json for an error. An error that is not a Problem becomes internal_error, without details. */
export function sendProblem(ctx: Ctx, error: unknown): Promise<void> | undefined {
  const refused = toProblem(error);
  if (refused.status >= 500) ctx.state.failure = refused.extras.cause ?? error;
  return sendRefusal(ctx, refused);
}

/** Sends problem+json, instead of anything that was set before. */
export function sendRefusal(ctx: Ctx, refused: Refusal): Promise<void> | undefined {
  const { code, extras } = refused;
  const { res } = ctx;
  ctx.state.refused = { refusal: refused, address: ctx.ip };
  ctx.status = PROBLEMS[code].status;
  for (const name in extras.headers) res.setHeader(name, extras.headers[name]!);
  res.removeHeader("ETag");
  res.setHeader("Content-Type", "application/problem+json");
  res.setHeader("Cache-Control", "no-store");
  return sendText(ctx, problemDocument(refused, ctx.state.requestId));
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const code = error instanceof Error && (error as NodeJS.ErrnoException).code;
  // The client has disconnected. Nobody reads this response, but the log records it.
  if (code === "ECONNRESET" || code === "ERR_STREAM_PREMATURE_CLOSE") return problem("malformed_request", DISCONNECTED);
  return problem("internal_error", "Something went wrong on our side. Quote the request_id when you contact support.");
}
