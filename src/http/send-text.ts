import type { Context } from "koa";
import { codingOf, compress, type Compression, isWorthwhile } from "./codings.ts";
import { codedTag } from "./entity-tags.ts";

/** The compressed forms of a text that is sent again and again. Each is made when it is first asked for. */
export type CodedForms = Map<Compression, Promise<Buffer | string>>;

/**
 * Sends a whole text, whose type is already set, in the coding that Accept-Encoding prefers if that pays.
 * @param options.tag the entity tag of the text without a coding.
 * @returns a promise if the text is compressed.
 */
export function sendText(
  ctx: Context,
  text: Buffer | string,
  { tag, forms }: { tag?: string | undefined; forms?: CodedForms | undefined } = {},
): Promise<void> | undefined {
  const { req, res } = ctx;
  const coding = codingOf(text, req.headers["accept-encoding"]);
  if ((isWorthwhile(text) || coding !== "identity") && !res.hasHeader("Vary")) res.setHeader("Vary", "Accept-Encoding");
  if (coding !== "identity") return sendCoded(ctx, text, coding, { tag, forms });
  ctx.body = text;
  return undefined;
}

async function sendCoded(
  ctx: Context,
  text: Buffer | string,
  coding: Compression,
  { tag, forms }: { tag: string | undefined; forms: CodedForms | undefined },
): Promise<void> {
  const { req, res } = ctx;
  ctx.body = await (forms === undefined
    ? compress(text, coding, () => req.socket.destroyed)
    : formOf(text, coding, forms));
  res.setHeader("Content-Encoding", coding);
  if (tag !== undefined) res.setHeader("ETag", codedTag(tag, coding));
}

function formOf(text: Buffer | string, coding: Compression, forms: CodedForms): Promise<Buffer | string> {
  const form = forms.get(coding) ?? compress(text, coding);
  forms.set(coding, form);
  return form;
}
