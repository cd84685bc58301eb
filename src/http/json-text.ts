import { createHash } from "node:crypto";
import { jsonParts } from "../infra/json-parts.ts";
import { asTag } from "./entity-tags.ts";

/** Returns a value as `JSON.stringify` writes it, with its entity tag. Other requests are served meanwhile. */
export async function jsonText(value: unknown): Promise<{ text: string; tag: string }> {
  const hash = createHash("sha256");
  let text = "";
  for await (const part of jsonParts(value)) {
    hash.update(part);
    text += part;
  }
  return { text, tag: asTag(hash) };
}
