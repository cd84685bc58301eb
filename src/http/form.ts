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
import { checkContentEncoding, contentTypeOf, MAX_JSON_BYTES } from "./body.ts";
import { FormFields } from "./form-fields.ts";
import { checkLength, incoming, tooLarge } from "./incoming.ts";
import { checkTransferEncoding, filenameIn, headerValue, invalidFile } from "./mime.ts";
import type { Upload, UploadRules } from "./upload.ts";

/** Maximum parts of a form: more than any endpoint has fields. */
const MAX_PARTS = 32;

/** Maximum size of the headers of a part; what follows is dropped. Decoding 80 kB of them takes 130 ms. */
const MAX_HEADER_BYTES = 16_384;

/** The headers of a part, as the parser gives them: names in lower case, values with one character for each byte. */
type PartHeaders = Readonly<Record<string, readonly string[] | undefined>>;

/**
 * Receives a form (RFC 7578) as it arrives. The part `content` is the file, and the form waits while it is read. The
 * other parts are the fields, in any order, before or after the file. A field may be sent as a file, as a Blob is.
 * @param schema tells which fields there are, and which are text and which are JSON.
 * @throws problems malformed_request, payload_too_large, unsupported_media_type. `file`, its stream and `fields` fail
 * with those, request_timeout, validation_failed, or ECONNRESET if the client disconnects.
 */
export function openForm(
  req: IncomingMessage,
  schema: TSchema | undefined,
  { maxFileBytes, timeoutMs }: UploadRules,
): Upload {
  checkContentEncoding(req);
  const maxBytes = maxFileBytes + MAX_JSON_BYTES; // the fields may be as large as in JSON
  checkLength(req, maxBytes, maxFileBytes);
  const form = parserOf(req);
  const fields = new FormFields(schema);
  const bytes = incoming(req, { maxBytes, maxFileBytes, timeoutMs });
  const failures: unknown[] = [];
  const abort = new AbortController();
  const parts: Promise<void>[] = [];
  let stream: Readable | undefined;

  /** Ends the reading. The first failure is reported. */
  function fail(error: unknown): void {
    failures.push(error);
    abort.abort();
  }
  async function* upToLimit(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      if (size > maxFileBytes) {
        fail(tooLarge(maxFileBytes));
        throw failures[0];
      }
      yield chunk;
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
      if (stream !== undefined)
        throw invalid(
          "/content",
          "must be one file",
          "The form contains more than one file. Send one file, in the part named `content`.",
        );
      stream = part;
      found({ stream: upToLimit(part), filename: filenameIn(disposition, pointer), contentType: typeOf(type) });
    } else if (isFile) {
      throw invalidFile(pointer, "must not be a file; send the file in the part named content");
    } else {
      const { charset } = (await headerValue(type ?? "")).params;
      const [text, isCut] = await textOf(part, charset);
      fields.add(name, text, isCut);
    }
  }
  const file = new Promise<IncomingFile>((resolve) => {
    form.on("part", (part) => {
      part.on("error", () => undefined); // the reader gets the error; without a listener it would end the process
      part.once("header", (headers) => {
        if (parts.length === MAX_PARTS)
          return fail(problem("payload_too_large", `The form has too many parts. Send at most ${MAX_PARTS}.`));
        parts.push(take(part, headers as PartHeaders, resolve).catch(fail));
      });
    });
  });
  const parsed = pipeline(bytes, whole(form), { signal: abort.signal })
    .then(() => Promise.all(parts))
    .then(() => abort.signal.throwIfAborted())
    .catch((cause: unknown) => {
      const detail =
        "The multipart body is cut off or malformed: its closing boundary is missing. Send it again, complete.";
      failures.push(bytes.errored ?? problem("malformed_request", detail, { cause }));
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

function headerOf(headers: PartHeaders, name: string): string | undefined {
  const [bytes] = headers[name] ?? [];
  return bytes === undefined ? undefined : Buffer.from(bytes, "latin1").toString().trim();
}

/** Returns a type with its parameters, or alone if those are malformed; null if none is declared. */
function typeOf(declared: string | undefined): string | null {
  if (declared === undefined) return null;
  return isMediaType(declared) ? declared : (declared.split(";")[0] ?? "").trim();
}

/** Returns the text of a field, and whether it is cut because it is too large. */
async function textOf(part: Readable, charset: string | undefined): Promise<[text: string, isCut: boolean]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of part as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_JSON_BYTES) return ["", true];
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  try {
    return [new TextDecoder(charset, { ignoreBOM: true }).decode(bytes), false];
  } catch {
    return [bytes.toString(), false]; // a charset that is not known counts as UTF-8
  }
}

/** @throws problem malformed_request if Content-Type has no boundary. */
function parserOf(req: IncomingMessage): Dicer {
  const boundary = contentTypeOf(req)?.params.get("boundary");
  const limits = { maxHeaderSize: MAX_HEADER_BYTES }; // which the types leave out
  if (boundary) return new Dicer({ boundary, ...limits });
  throw problem(
    "malformed_request",
    "The form's Content-Type has no boundary. Let your HTTP client set Content-Type, or add the boundary yourself.",
  );
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
