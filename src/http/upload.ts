import type { IncomingMessage } from "node:http";
import contentDisposition from "content-disposition";
import type { TSchema } from "typebox";
import type { IncomingFile, StoredFile } from "../content/file.ts";
import { problem } from "../problems.ts";
import { isMediaType } from "../schema/media-type.ts";
import { mediaTypeOf, type ReadBody, refuseEncoding } from "./body.ts";
import { type FormRules, readParts } from "./form.ts";
import { FormFields } from "./form-fields.ts";
import { incoming, refuseLarge } from "./incoming.ts";

export interface UploadRules extends FormRules {
  readonly store: (file: IncomingFile) => Promise<StoredFile>;
  readonly discard: (file: StoredFile) => Promise<void>;
}

/**
 * Stores the whole body as a file. Its type is the Content-Type, and its name comes from Content-Disposition (RFC
 * 6266). A request without a body is an empty file.
 * @throws problems payload_too_large, unsupported_media_type, request_timeout, validation_failed; what `store` throws.
 * The rest of the body is then discarded.
 */
export async function readRaw(
  req: IncomingMessage,
  { maxFileBytes, timeoutMs, store }: UploadRules,
): Promise<ReadBody> {
  refuseLarge(req, maxFileBytes, maxFileBytes);
  refuseEncoding(req);
  if (mediaTypeOf(req) === "multipart/form-data") {
    throw problem(
      "unsupported_media_type",
      "Forms are not accepted here. Send the file's bytes as the body, with the file's own Content-Type.",
    );
  }
  const file = { filename: filenameOf(req), contentType: declaredType(req.headers["content-type"]) };
  const stream = incoming(req, { maxBytes: maxFileBytes, maxFileBytes, timeoutMs });
  try {
    const stored = await store({ ...file, stream });
    return { body: undefined, file: stored, fingerprint: fingerprintOf({}, stored) };
  } finally {
    stream.destroy();
  }
}

/**
 * Reads a form (RFC 7578). The part `content` is the file, and is stored as it arrives. The other parts are the fields,
 * in any order, before or after the file.
 * @param check throws if the fields are not valid.
 * @throws problems malformed_request, payload_too_large, unsupported_media_type, request_timeout, validation_failed;
 * what `store` throws. The file is then removed, and the rest of the body is discarded.
 */
export async function readForm(
  req: IncomingMessage,
  { store, discard, ...rules }: UploadRules,
  schema: TSchema | undefined,
  check: (body: unknown) => void,
): Promise<ReadBody> {
  refuseEncoding(req);
  const fields = new FormFields(schema);
  let storing: Promise<StoredFile> | undefined;
  try {
    await readParts(req, rules, {
      field: (name, text, truncated) => fields.add(name, text, truncated),
      file(name, { stream, filename, contentType }) {
        if (name !== "content")
          throw invalid(`/${name}`, "must not be a file; send the file in the part named content");
        storing = store({ stream, filename: formFilename(filename), contentType: declaredType(contentType) });
        return storing;
      },
    });
    const body = fields.finish();
    check(body);
    const file = await storing;
    return { body, file, fingerprint: fingerprintOf(body, file) };
  } catch (error) {
    await storing?.then(discard, () => undefined);
    throw error;
  }
}

/**
 * Browsers and fetch percent-encode only the double quote, CR and LF in a part's filename (HTML, multipart/form-data
 * encoding).
 */
function formFilename(filename: string): string | null {
  const name = filename.replaceAll(/%(22|0D|0A)/gi, (encoded) => decodeURIComponent(encoded));
  if (name.includes("\uFFFD")) throw invalid("/content", "must have a filename in UTF-8");
  return name === "" ? null : name;
}

/** Returns the name in Content-Disposition, or null. @throws problem validation_failed if the header is malformed. */
function filenameOf(req: IncomingMessage): string | null {
  const header = req.headers["content-disposition"];
  if (header === undefined) return null;
  try {
    const { filename = "" } = contentDisposition.parse(header).parameters;
    return filename === "" ? null : asUtf8(filename);
  } catch {
    throw invalid(
      "Content-Disposition",
      "must follow RFC 6266, for example attachment; filename*=UTF-8''na%C3%AFve.txt",
    );
  }
}

/**
 * Decodes a header as UTF-8 if its bytes are valid UTF-8. Node decodes headers as Latin-1, but many clients send UTF-8.
 */
function asUtf8(text: string): string {
  if (!/^[\x00-\xff]*$/.test(text)) return text; // oxlint-disable-line no-control-regex -- one byte per character
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.from(text, "latin1"));
  } catch {
    return text;
  }
}

function declaredType(text: string | undefined): string | null {
  if (text === undefined || text === "") return null;
  if (!isMediaType(text))
    throw problem(
      "unsupported_media_type",
      "The file's Content-Type is not a media type. Send one, such as application/pdf.",
    );
  return text;
}

function invalid(pointer: string, detail: string): Error {
  return problem("validation_failed", `The file is not valid. ${pointer} ${detail}.`, {
    errors: [{ pointer, detail }],
  });
}

/** Identifies what was sent. The form's boundary and the order of its parts make no difference. */
function fingerprintOf(fields: Record<string, unknown>, file: StoredFile | undefined): string {
  const sorted = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify([sorted, file === undefined ? null : [file.sha256, file.filename, file.contentType]]);
}
