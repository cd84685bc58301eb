import type { IncomingMessage } from "node:http";
import { isAskedOfCandidate } from "../../candidates/outreach.ts";
import type { CandidateRecord, DocumentRecord } from "../../candidates/record.ts";
import { safeType, withSafeEnding } from "../../content/endings.ts";
import type { StoredFile } from "../../content/file.ts";
import type { DocumentService } from "../../documents/service.ts";
import { mediaTypeOf } from "../../http/body.ts";
import { openForm } from "../../http/form.ts";
import type { UploadRules } from "../../http/upload.ts";
import type { Precondition } from "../../precondition.ts";
import { Problem, type ProblemCode, problem } from "../../problems.ts";
import type { Words } from "../languages/en.ts";
import { notNeeded, type Visit } from "./visits.ts";

/**
 * Receives the file of a form, and makes it the document's content. Lets it in only while the candidate is asked for it: not
 * after somebody has sent or reviewed the document, withdrawn the candidate, or corrected the address, while the file was
 * arriving.
 * @throws what `openForm` and DocumentService throw; invalid_transition also if the candidate is not asked for it.
 */
export async function receiveFile(
  req: IncomingMessage,
  { link, isOwn }: Visit,
  documentId: string,
  documents: DocumentService,
  rules: UploadRules,
): Promise<void> {
  const form = openFormOf(req, rules);
  const address = { accountId: link.accountId, candidateId: link.id, documentId };
  const whileAsked: Precondition = (views) => {
    // DocumentService shows the document and its candidate.
    const [document, candidate] = views as [
      Pick<DocumentRecord, "state">,
      Pick<CandidateRecord, "withdrawn" | "email">,
    ];
    const isSame = candidate.email !== null && isOwn(candidate.email);
    if (candidate.withdrawn || !isSame || !isAskedOfCandidate(document.state)) throw notNeeded();
  };
  let file: StoredFile | undefined;
  try {
    const arriving = await form.file;
    if (arriving === undefined) throw problem("validation_failed", "The form has no file.");
    const filename = arriving.filename === null ? null : withSafeEnding(arriving.filename);
    const contentType = safeType(arriving.contentType);
    file = await documents.receive(address, { ...arriving, filename, contentType }, whileAsked);
    await form.fields();
    const received = file;
    file = undefined; // from here on it is the service's
    await documents.putContent(address, received, whileAsked);
  } catch (error) {
    if (file !== undefined) await documents.discard(file);
    throw form.failure() ?? error;
  } finally {
    form.close();
  }
}

/** Receives the fields of a form that has no file. @throws what `openForm` throws. */
export async function receiveFields(req: IncomingMessage, rules: UploadRules): Promise<Record<string, unknown>> {
  const form = openFormOf(req, rules);
  try {
    if ((await form.file) !== undefined) throw problem("validation_failed", "The form has a file.");
    return await form.fields();
  } catch (error) {
    throw form.failure() ?? error;
  } finally {
    form.close();
  }
}

function openFormOf(req: IncomingMessage, rules: UploadRules) {
  if (mediaTypeOf(req) !== "multipart/form-data") throw problem("unsupported_media_type", "Send the page's own form.");
  return openForm(req, undefined, rules);
}

/** What the visitor is told about a file that was refused. Every other problem is ours. */
const REFUSALS: Partial<Record<ProblemCode, keyof Words["pages"]["upload"]>> = {
  payload_too_large: "tooLarge",
  validation_failed: "noFile",
  invalid_transition: "notNeeded",
  not_found: "notNeeded",
  candidate_deleted: "notNeeded",
  malformed_request: "incomplete",
  request_timeout: "incomplete",
  unsupported_media_type: "incomplete",
};

/** Says why a file was refused, in the visitor's words. Undefined if the error is not a problem. */
export function refusalOf(
  error: unknown,
  { pages }: Words,
  maxMegabytes: string,
): { status: number; text: string } | undefined {
  if (!(error instanceof Problem)) return undefined;
  const isName = error.extras.errors?.[0]?.pointer === "/content/filename";
  const why = isName ? "filename" : (REFUSALS[error.code] ?? "failed");
  const text = pages.upload[why];
  return {
    status: why === "notNeeded" ? 409 : error.status,
    text: typeof text === "string" ? text : text(maxMegabytes),
  };
}
