import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Busboy, type BusboyInstance } from "@fastify/busboy";
import { problem } from "../problems.ts";
import { MAX_JSON_BYTES } from "./body.ts";
import { incoming, refuseLarge, tooLarge } from "./incoming.ts";

/** More parts than any endpoint has fields. */
const MAX_PARTS = 32;

export interface FormRules {
  /** Largest file, in bytes. */
  maxFileBytes: number;
  /** Longest wait for the client's next bytes, in milliseconds. */
  timeoutMs: number;
}

/** Takes the parts as they come; what it throws ends the reading. */
export interface PartTaker {
  field(name: string, text: string, truncated: boolean): void;
  /** Reads the stream to its end; the form waits meanwhile. `filename` is empty where there is none. */
  file(name: string, part: { stream: Readable; filename: string; contentType: string }): Promise<unknown>;
}

/**
 * Reads a form (RFC 7578) as it arrives, to its end: fields and one file, which is what is called `content` or has a filename.
 * @throws problems malformed_request, payload_too_large, request_timeout, validation_failed (two files); what the taker
 * throws; ECONNRESET when the client goes away. The file's stream then fails, and the rest of the body is read and dropped.
 */
export async function readParts(
  req: IncomingMessage,
  { maxFileBytes, timeoutMs }: FormRules,
  take: PartTaker,
): Promise<void> {
  const maxBytes = maxFileBytes + MAX_JSON_BYTES; // as much for the fields as they would have in JSON
  refuseLarge(req, maxBytes, maxFileBytes);
  const form = parserOf(req, maxFileBytes);
  const bytes = incoming(req, { maxBytes, maxFileBytes, timeoutMs });
  const failures: unknown[] = [];
  const givenUp = new AbortController();
  let file: { stream: Readable; taken: Promise<unknown> } | undefined;

  /** The first failure is the answer; it ends the reading. */
  function fail(error: unknown): void {
    failures.push(error);
    givenUp.abort();
  }
  function attempt(step: () => void): void {
    try {
      step();
    } catch (error) {
      fail(error);
    }
  }
  form.on("error", (cause) => fail(bytes.errored ?? malformed(cause)));
  form.on("partsLimit", () => fail(problem("payload_too_large", `A form may have at most ${MAX_PARTS} parts.`)));
  form.on("filesLimit", () =>
    fail(
      problem("validation_failed", "A form brings one file.", {
        errors: [{ pointer: "/content", detail: "must be one file" }],
      }),
    ),
  );
  form.on("field", (name, value, _nameCut, valueCut) => attempt(() => take.field(name, value, valueCut)));
  form.on("file", (name, stream, filename, _encoding, contentType) => {
    stream.on("error", () => undefined); // whoever reads it meets the error
    stream.once("limit", () => fail(tooLarge(maxFileBytes)));
    attempt(() => {
      file = { stream, taken: take.file(name, { stream, filename: filename ?? "", contentType }) };
      file.taken.catch(fail);
    });
  });
  try {
    await pipeline(bytes, form, { signal: givenUp.signal });
    await file?.taken;
  } catch (error) {
    file?.stream.destroy(new Error("The form was given up."));
    throw failures[0] ?? error;
  }
}

/** @throws problem malformed_request where Content-Type names no boundary. */
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
      "The Content-Type of a form has to name its boundary; most clients do that by themselves.",
      { cause },
    );
  }
}

function malformed(cause: unknown): Error {
  return problem("malformed_request", "The form ends before its closing boundary, or is none.", { cause });
}
