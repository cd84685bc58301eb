import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import type { TSchema } from "typebox";
import type { IncomingFile } from "../content/file.ts";
import { invalid, problem } from "../problems.ts";
import { MAX_JSON_BYTES, refuseEncoding } from "./body.ts";
import { FormFields } from "./form-fields.ts";
import { incoming, refuseLarge, tooLarge } from "./incoming.ts";
import { declaredType, invalidFile, type Upload, type UploadRules } from "./upload.ts";

/** Maximum parts of a form: more than any endpoint has fields. */
const MAX_PARTS = 32;

/**
 * Receives a form (RFC 7578) as it arrives. The part `content` is the file, and the form waits while it is read. The
 * other parts are the fields, in any order, before or after the file.
 * @param schema tells which fields are text and which are JSON.
 * @throws problems malformed_request, payload_too_large, unsupported_media_type. `file`, its stream and `fields` fail
 * with those, request_timeout, validation_failed, or ECONNRESET if the client disconnects.
 */
export function openForm(
  req: IncomingMessage,
  schema: TSchema | undefined,
  { maxFileBytes, timeoutMs }: UploadRules,
): Upload {
  refuseEncoding(req);
  const maxBytes = maxFileBytes + MAX_JSON_BYTES; // the fields may be as large as in JSON
  refuseLarge(req, maxBytes, maxFileBytes);
  const form = parserOf(req, maxFileBytes);
  const fields = new FormFields(schema);
  const bytes = incoming(req, { maxBytes, maxFileBytes, timeoutMs });
  const failures: unknown[] = [];
  const abort = new AbortController();
  let stream: Readable | undefined;

  /** Ends the reading. The first failure becomes the answer. */
  function fail(error: unknown): void {
    failures.push(error);
    abort.abort();
  }
  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      fail(error);
    }
  }
  form.on("error", (cause) => fail(bytes.errored ?? malformed(cause)));
  form.on("partsLimit", () => fail(tooManyParts()));
  form.on("filesLimit", () => fail(tooManyFiles()));
  form.on("field", (name, value, _nameCut, valueCut) => attempt(() => fields.add(name, value, valueCut)));
  const file = new Promise<IncomingFile>((resolve) => {
    form.on("file", (name, content, filename, _encoding, contentType) => {
      stream = content;
      content.on("error", () => undefined); // the reader gets the error; without a listener it would end the process
      content.once("limit", () => fail(tooLarge(maxFileBytes)));
      attempt(() => resolve({ stream: content, ...describe(name, filename ?? "", contentType) }));
    });
  });
  const parsed = pipeline(bytes, form, { signal: abort.signal }).catch((error: unknown) => {
    failures.push(error);
    stream?.destroy(new Error("Reading the form was aborted."));
    throw failures[0];
  });
  parsed.catch(() => undefined); // `file` and `fields` report it
  return {
    file: Promise.race([file, parsed.then(() => undefined)]),
    async fields() {
      await parsed;
      return fields.finish();
    },
    failure: () => failures[0],
    close: () => abort.abort(),
  };
}

/** @throws problems validation_failed, unsupported_media_type if the part is not a file that can be stored. */
function describe(name: string, filename: string, contentType: string): Omit<IncomingFile, "stream"> {
  if (name !== "content") throw invalidFile(`/${name}`, "must not be a file; send the file in the part named content");
  return { filename: formFilename(filename), contentType: declaredType(contentType) };
}

/**
 * Browsers and fetch percent-encode only the double quote, CR and LF in a part's filename (HTML, multipart/form-data
 * encoding).
 */
function formFilename(filename: string): string | null {
  const name = filename.replaceAll(/%(22|0D|0A)/gi, (encoded) => decodeURIComponent(encoded));
  if (name.includes("\uFFFD")) throw invalidFile("/content", "must have a filename in UTF-8");
  return name === "" ? null : name;
}

/** @throws problem malformed_request if Content-Type has no boundary. */
function parserOf(req: IncomingMessage, maxFileBytes: number): BusboyInstance {
  try {
    return new Busboy({
      headers: { ...req.headers, "content-type": req.headers["content-type"] ?? "" },
      limits: { fieldSize: MAX_JSON_BYTES, fileSize: maxFileBytes, files: 1, parts: MAX_PARTS },
      isPartAFile: (name, _type, filename) => name === "content" || filename !== undefined,
      preservePath: true,
    });
  } catch (cause) {
    throw problem(
      "malformed_request",
      "The form's Content-Type has no boundary. Let your HTTP client set Content-Type, or add the boundary yourself.",
      { cause },
    );
  }
}

function malformed(cause: unknown): Error {
  return problem(
    "malformed_request",
    "The multipart body is cut off or malformed: its closing boundary is missing. Send it again, complete.",
    { cause },
  );
}

function tooManyParts(): Error {
  return problem("payload_too_large", `The form has too many parts. Send at most ${MAX_PARTS}.`);
}

function tooManyFiles(): Error {
  const detail = "The form contains more than one file. Send one file, in the part named `content`.";
  return invalid("/content", "must be one file", detail);
}
