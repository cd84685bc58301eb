import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { type Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { callbackify } from "node:util";
import { Dicer } from "@fastify/busboy";
import type { TSchema } from "typebox";
import type { IncomingFile } from "../content/file.ts";
import { invalid, problem } from "../problems.ts";
import { isMediaType } from "../schema/media-type.ts";
import { escapePointer } from "../schema/pointer.ts";
import { checkContentEncoding, contentTypeOf, MAX_JSON_BYTES, tooLarge } from "./body.ts";
import { fieldsTooLarge, formFields } from "./form-fields.ts";
import { checkTransferEncoding, filenameIn, headerValue, invalidFile } from "./mime.ts";
import { checkLength, incoming, type Upload, type UploadRules } from "./upload.ts";

/** Maximum parts of a form: more than any endpoint has fields. */
const MAX_PARTS = 32;

/** Maximum size of the headers of a part; what follows is dropped. Decoding 80 kB of them takes 130 ms. */
const MAX_HEADER_BYTES = 16_384;

const MORE_FILES = "The form contains more than one file. Send one file, in the part named `content`.";
const CUT_OFF = "The multipart body is cut off or malformed: its closing boundary is missing. Send it again, complete.";
const NO_BOUNDARY =
  "The form's Content-Type has no boundary. Let your HTTP client set Content-Type, or add the boundary yourself.";

/** The headers of a part, as the parser gives them: names in lower case, values with one character for each byte. */
type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Receives a form (RFC 7578) as it arrives. The part `content` is the file, and the form waits while it is read. The
 * other parts are the fields, in any order, before or after the file. A field may be sent as a file, as a Blob is.
 * @param schema tells which fields there are, and which are text and which are JSON.
 * @throws problems malformed_request, payload_too_large, unsupported_media_type. `file`, its stream and `fields` fail
 * with those, request_timeout, validation_failed, or ECONNRESET if the client disconnects.
 */
export function openForm(req: IncomingMessage, schema: TSchema | undefined, rules: UploadRules): Upload {
  const { maxFileBytes, takesAnyText = false } = rules;
  checkContentEncoding(req);
  const maxBytes = maxFileBytes + MAX_JSON_BYTES; // the fields may be as large as in JSON
  checkLength(req, maxFileBytes, maxBytes);
  const boundary = contentTypeOf(req)?.params.get("boundary");
  if (!boundary) throw problem("malformed_request", NO_BOUNDARY);
  const limits = { maxHeaderSize: MAX_HEADER_BYTES }; // which the types leave out
  const form = new Dicer({ boundary, ...limits });
  const fields = formFields(schema, takesAnyText);
  const bytes = incoming(req, rules, maxBytes);
  const abort = new AbortController(); // with the first failure of a part
  const parts: Promise<void>[] = [];
  let stream: Readable | undefined;

  async function* upToLimit(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const chunk of content) {
        size += chunk.length;
        if (size > maxFileBytes) abort.abort(tooLarge("The file", maxFileBytes));
        abort.signal.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      await parsed; // fails with the cause: a part fails only with its form
      throw error;
    }
  }
  /** Handles one part: passes the file to `found`, or adds the part to the fields. */
  async function take(part: Readable, headers: PartHeaders, found: (file: IncomingFile) => void): Promise<void> {
    const disposition = await headerValue(headerOf(headers, "content-disposition") ?? "");
    const name = disposition.value === "form-data" ? disposition.params["name"] : undefined;
    const isFile = "filename" in disposition.params && !fields.has(name ?? "");
    const pointer = `/${escapePointer(name ?? "")}`;
    checkTransferEncoding(headerOf(headers, "content-transfer-encoding"), pointer);
    const type = headerOf(headers, "content-type");
    if (name === "content") {
      if (stream !== undefined) throw invalid("/content", "must be one file", MORE_FILES);
      stream = part;
      const filename = filenameIn(disposition.params, pointer, takesAnyText);
      found({ stream: upToLimit(part), filename, contentType: typeOf(type) });
    } else if (isFile) {
      throw invalidFile(pointer, "must not be a file; send the file in the part named content");
    } else {
      const { charset } = (await headerValue(type ?? "")).params;
      fields.add(name, await textOf(part, charset));
    }
  }
  const file = new Promise<IncomingFile>((resolve) => {
    form.on("part", (part) => {
      part.on("error", () => undefined); // the reader gets the error; without a listener it would end the process
      part.once("header", (headers) => {
        if (parts.length === MAX_PARTS)
          return abort.abort(problem("payload_too_large", `The form has too many parts. Send at most ${MAX_PARTS}.`));
        parts.push(take(part, headers as PartHeaders, resolve).catch((error) => abort.abort(error)));
      });
    });
  });
  const parsed = pipeline(bytes, whole(form), { signal: abort.signal })
    .then(() => Promise.all(parts))
    .then(() => abort.signal.throwIfAborted())
    .catch((cause: unknown) => {
      if (!abort.signal.aborted) abort.abort(bytes.errored ?? problem("malformed_request", CUT_OFF, { cause }));
      stream?.destroy(new Error("Reading the form was aborted."));
      throw abort.signal.reason;
    });
  parsed.catch(() => undefined); // `file` and `fields` report it
  return {
    file: Promise.race([file, parsed.then(() => undefined)]),
    async fields() {
      await parsed;
      return fields.finish();
    },
    close: () => abort.abort(),
  };
}

function headerOf(headers: PartHeaders, name: string): string | undefined {
  const [bytes] = headers[name] ?? [];
  return bytes === undefined ? undefined : Buffer.from(bytes, "latin1").toString().trim();
}

/** Returns a type with its parameters, or alone if those are malformed; null if none is declared. */
function typeOf(declared: string | undefined): string | null {
  if (declared === undefined) return null;
  return isMediaType(declared) ? declared : (declared.split(";")[0] ?? "").trim();
}

/** @throws problem payload_too_large if the field alone is too large. */
async function textOf(part: Readable, charset: string | undefined): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of part as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_JSON_BYTES) throw fieldsTooLarge();
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  try {
    return new TextDecoder(charset, { ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes.toString(); // a charset that is not known counts as UTF-8
  }
}

/** Passes a body to the parser to its end. The parser may finish before that, and then calls back for no chunk any more. */
function whole(form: Dicer): Writable {
  const finished = once(form, "finish"); // fails with the event `error`
  finished.catch(() => undefined);
  form.on("error", () => undefined);
  let isFinished = false;
  let taken = (): void => undefined;
  form.once("finish", () => {
    isFinished = true;
    taken();
  });
  return new Writable({
    write(chunk, _encoding, done) {
      if (isFinished) return done();
      taken = () => {
        taken = () => undefined;
        done();
      };
      form.write(chunk, () => taken());
    },
    final: callbackify(async () => {
      form.end();
      await finished;
    }),
  });
}
