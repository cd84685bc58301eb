import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { MAX_JSON_BYTES } from "../http/body.ts";
import { readEntries } from "../http/entries.ts";
import { parseBody } from "../http/json.ts";
import type { JsonResponse } from "../http/response.ts";
import { Problem, problem } from "../problems.ts";
import type { Checked, Entry } from "../schema/entry.ts";
import { propertiesOf } from "../schema/fields.ts";
import { isObject } from "../schema/merge-patch.ts";
import { tidier } from "../schema/tidy.ts";
import type { Declared } from "./endpoint.ts";

/** An entry of a request. `label`: the value of its member `repeats` (Declared.entries). Null if it has none. */
export type LabelledEntry = Entry<unknown> & { readonly label: string | null };

/** Returns a function that reads a body of several entries, each of which may fail alone when `check` validates it. */
export function entriesReader({ name, schema, repeats }: NonNullable<Declared["entries"]>, timeoutMs: number) {
  const tidyLabel = tidier(propertiesOf(schema)[repeats] ?? {});
  return async (req: IncomingMessage, count: number, check: (body: unknown) => Checked<unknown>) => {
    const hash = createHash("sha256");
    const body: LabelledEntry[] = [];
    await readEntries(req, { name, count, timeoutMs }, (text) => {
      hash.update(text).update("\n");
      const entry = { size: text.length, label: null, read: () => check(parseEntry(text)) };
      const at = body.push(entry) - 1;
      const value = parseEntry(text);
      const label = isObject(value) ? tidyLabel(value[repeats]) : null;
      if (typeof label === "string") body[at] = { ...entry, label };
    });
    return { body, fingerprint: hash.digest("base64url") };
  };
}

/** Parses one of several bodies. @throws problems malformed_json, payload_too_large, validation_failed */
export function parseEntry(text: Uint8Array): unknown {
  if (text.length > MAX_JSON_BYTES)
    throw problem("payload_too_large", `The entry is too large. Send at most ${MAX_JSON_BYTES} bytes for each.`);
  try {
    return parseBody(text);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw problem(error.code, error.message.replace(/^The body/, "The entry"), error.extras);
  }
}

const INDEX_OR_NULL = /"index":(\d+)|"(\w+)":null/g;

/**
 * Returns the response with the label of each entry in its result, where the stored response has null: labels may be personal,
 * and would outlive an erasure. Quotes inside a text are escaped, so what is found is a member.
 */
export function labelled(response: JsonResponse, entries: readonly LabelledEntry[], repeats: string): JsonResponse {
  let index = 0;
  const body = String(response.body).replaceAll(INDEX_OR_NULL, (member, digits?: string, name?: string) => {
    if (digits !== undefined) index = Number(digits);
    return name === repeats ? `"${repeats}":${JSON.stringify(entries[index]?.label ?? null)}` : member;
  });
  return { ...response, body };
}
