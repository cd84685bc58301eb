import { createHash } from "node:crypto";
import { jsonParts } from "../infra/json-parts.ts";
import { asTag } from "./entity-tags.ts";

/**
 * Returns a value as `JSON.stringify` writes it, in UTF-8, with its entity tag. Other requests are served meanwhile. It
 * returns bytes because the HTTP server would otherwise encode the whole text at once, of up to 8 MiB.
 */
export async function jsonText(value: unknown): Promise<{ bytes: Buffer; tag: string }> {
  const hash = createHash("sha256");
  const parts: Buffer[] = [];
  for await (const part of jsonParts(value)) {
    const bytes = Buffer.from(part);
    hash.update(bytes);
    parts.push(bytes);
  }
  return { bytes: Buffer.concat(parts), tag: asTag(hash) };
}
