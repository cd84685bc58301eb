import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { problem } from "../problems.ts";
import { MAX_JSON_BYTES } from "./body.ts";
import { incoming, refuseLarge, tooLarge } from "./incoming.ts";

/** Maximum parts of a form: more than any endpoint has fields. */
const MAX_PARTS = 32;

export interface FormRules {
  /** Largest file, in bytes. */
  maxFileBytes: number;
  /** Longest wait for the client's next bytes, in milliseconds. */
  timeoutMs: number;
}

/** Receives the parts as they arrive. An error that it throws ends the reading. */
export interface PartHandler {
  field(name: string, text: string, truncated: boolean): void;
  /** Reads the stream to its end; the form waits meanwhile. `filename` is empty if the part has none. */
  file(name: string, part: { stream: Readable; filename: string; contentType: string }): Promise<unknown>;
}

/**
 * Reads a form (RFC 7578) as it arrives, to its end: fields and at most one file. The file is the part that is named
 * `content` or has a filename.
 * @throws problems malformed_request, payload_too_large, request_timeout, validation_failed (two files); what the
 * handler throws; ECONNRESET if the client disconnects. The file's stream then fails, and the rest of the body is
 * discarded.
 */
export async function readParts(
  req: IncomingMessage,
  { maxFileBytes, timeoutMs }: FormRules,
  handler: PartHandler,
): Promise<void> {
  const maxBytes = maxFileBytes + MAX_JSON_BYTES; // the fields may be as large as in JSON
  refuseLarge(req, maxBytes, maxFileBytes);
  const form = parserOf(req, maxFileBytes);
  const bytes = incoming(req, { maxBytes, maxFileBytes, timeoutMs });
  const failures: unknown[] = [];
  const abort = new AbortController();
  let file: { stream: Readable; done: Promise<unknown> } | undefined;

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
  form.on("partsLimit", () =>
    fail(problem("payload_too_large", `The form has too many parts. Send at most ${MAX_PARTS}.`)),
  );
  form.on("filesLimit", () =>
    fail(
      problem(
        "validation_failed",
        "The form contains more than one file. Send one file, in the part named `content`.",
        { errors: [{ pointer: "/content", detail: "must be one file" }] },
      ),
    ),
  );
  form.on("field", (name, value, _nameCut, valueCut) => attempt(() => handler.field(name, value, valueCut)));
  form.on("file", (name, stream, filename, _encoding, contentType) => {
    stream.on("error", () => undefined); // the reader gets the error; without a listener it would end the process
    stream.once("limit", () => fail(tooLarge(maxFileBytes)));
    attempt(() => {
      file = { stream, done: handler.file(name, { stream, filename: filename ?? "", contentType }) };
      file.done.catch(fail);
    });
  });
  try {
    await pipeline(bytes, form, { signal: abort.signal });
    await file?.done;
  } catch (error) {
    file?.stream.destroy(new Error("Reading the form was aborted."));
    throw failures[0] ?? error;
  }
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
