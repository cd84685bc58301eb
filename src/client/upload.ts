import { dispositionOf } from "./download.ts";
import { type Bytes, bytesPayload } from "./payload.ts";
import type { Call, CallOptions } from "./transport.ts";

export interface UploadOptions {
  /** The name that a download gets. */
  readonly filename?: string;
  /** By default the type of a Blob, else application/octet-stream. */
  readonly contentType?: string;
}

export function uploadCall(path: string, bytes: Bytes, given: CallOptions & UploadOptions): Call {
  const { filename, contentType, ...options } = given;
  const own = bytes instanceof Blob && bytes.type !== "" ? bytes.type : "application/octet-stream";
  const payload = bytesPayload(bytes, contentType ?? own);
  const headers = filename === undefined ? {} : { "Content-Disposition": dispositionOf(filename) };
  return { method: "PUT", path, surface: "writes", headers, payload, options };
}
