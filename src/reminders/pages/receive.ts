import type { IncomingMessage } from "node:http";
import { isAskedOfCandidate } from "../../candidates/outreach.ts";
import type { Document } from "../../candidates/document-schema.ts";
import type { CandidateRecord } from "../../candidates/record.ts";
import { safeType, withSafeEnding } from "../../content/endings.ts";
import { refuseProgramNamed, withoutPrograms } from "../../content/programs.ts";
import type { DocumentService } from "../../documents/service.ts";
import { contentTypeOf } from "../../http/body.ts";
import { openForm } from "../../http/form.ts";
import type { Upload, UploadRules } from "../../http/upload.ts";
import { isGone, type Precondition, problem, Problem, type ProblemCode } from "../../problems.ts";
import type { Words } from "../languages/en.ts";
import { sizeIn } from "../languages/formats.ts";
import { notNeeded, type Visit } from "./visits.ts";

/** What DocumentService shows to a precondition: the document, and its candidate. */
type Views = readonly [Pick<Document, "state" | "content">, Pick<CandidateRecord, "withdrawn" | "email">];

/**
 * Receives the file of a form, and makes it the document's content. Lets it in only while the candidate is asked for it, or
 * may replace it because nobody has reviewed it: not after somebody has sent another file, reviewed the document, withdrawn
 * the candidate, or corrected the address, while the file was arriving.
 * @throws what `openForm` and DocumentService throw; invalid_transition also if the candidate is not asked for it;
 * unsupported_media_type at /content if it is plainly no document.
 */
export async function receiveFile(
  req: IncomingMessage,
  { link, isOwn }: Visit,
  documentId: string,
  documents: DocumentService,
  rules: UploadRules,
): Promise<void> {
  const by = { type: "candidate", id: link.id } as const;
  const address = { accountId: link.accountId, by, candidateId: link.id, documentId };
  let replaced: string | undefined;
  const whileAsked: Precondition = (views) => {
    const [{ state, content }, { withdrawn, email }] = views() as Views;
    const isOwner = email !== null && isOwn(email);
    if (withdrawn || !isOwner || !(isAskedOfCandidate(state) || state === "received")) throw notNeeded();
    const present = `${state} ${content?.etag}`;
    if ((replaced ??= present) !== present) throw notNeeded();
  };
  await withForm(req, rules, async (form) => {
    const arriving = await form.file;
    if (arriving === undefined) throw problem("validation_failed", "The form has no file.");
    const filename = arriving.filename === null ? null : withSafeEnding(arriving.filename);
    refuseProgramNamed(filename ?? "");
    const contentType = safeType(arriving.contentType);
    const stream = withoutPrograms(arriving.stream);
    const file = await documents.receive(address, { stream, filename, contentType }, whileAsked);
    try {
      await form.fields();
    } catch (error) {
      await documents.discard(file);
      throw error;
    }
    await documents.putContent(address, file, whileAsked);
  });
}

/** Receives the fields of a form that has no file. @throws what `openForm` throws. */
export function receiveFields(req: IncomingMessage, rules: UploadRules): Promise<Record<string, unknown>> {
  return withForm(req, rules, async (form) => {
    if ((await form.file) !== undefined) throw problem("validation_failed", "The form has a file.");
    return form.fields();
  });
}

async function withForm<T>(req: IncomingMessage, rules: UploadRules, use: (form: Upload) => Promise<T>): Promise<T> {
  if (contentTypeOf(req)?.essence !== "multipart/form-data")
    throw problem("unsupported_media_type", "Send the page's own form.");
  const form = openForm(req, undefined, rules);
  try {
    return await use(form);
  } finally {
    form.close();
  }
}

/** What the visitor is told about a file that was refused. Every other problem is ours. */
const REFUSALS: Partial<Record<ProblemCode, keyof Words["pages"]["upload"]>> = {
  payload_too_large: "tooLarge",
  validation_failed: "noFile",
  invalid_transition: "notNeeded",
  on_hold: "notNeeded",
  malformed_request: "incomplete",
  request_timeout: "incomplete",
  unsupported_media_type: "incomplete",
};

export type Refusal = ReturnType<typeof refusalOf>;

/** Says why a file was refused, in the visitor's words. @param maxBytes size of the largest file. */
export function refusalOf(error: unknown, words: Words, maxBytes: number) {
  const { upload } = words.pages;
  if (!(error instanceof Problem)) return { status: 500, text: upload.failed };
  const { code, status, extras } = error;
  const pointer = extras.errors?.[0]?.pointer;
  const isProgram = pointer === "/content" && code === "unsupported_media_type";
  const own = isProgram ? "program" : pointer === "/content/filename" ? "filename" : undefined;
  const why = own ?? (isGone(error) ? "notNeeded" : (REFUSALS[code] ?? "failed"));
  const text = why === "tooLarge" ? upload.tooLarge(sizeIn(words, maxBytes)) : upload[why];
  return { status: why === "notNeeded" ? 409 : status, text };
}
