import type { IncomingMessage } from "node:http";
import type { Static, TSchema } from "typebox";
import type { Requester } from "../accounts/caller.ts";
import { contentTypeOf, hasBody, readJson } from "../http/body.ts";
import { ifMatch } from "../http/entity-tags.ts";
import { openForm } from "../http/form.ts";
import { declaredType, fingerprintOf, openRaw } from "../http/upload.ts";
import type { StoredFile } from "../content/file.ts";
import { type Fault, listed, MAX_FAULTS, problem } from "../problems.ts";
import type { Endpoint, Route } from "./endpoint.ts";
import type { Checked } from "../schema/entry.ts";
import { propertiesOf } from "../schema/fields.ts";
import { tidier } from "../schema/tidy.ts";
import { entriesReader } from "./entries.ts";
import { compile } from "./validate.ts";

export interface ReadBody {
  readonly body: unknown;
  readonly warnings: readonly Fault[];
  readonly file: StoredFile | undefined;
  /** Equal for bodies that differ only in JSON whitespace, or in a form's boundary or the order of its parts. */
  readonly fingerprint: string;
}

/** What of the query concerns the body. */
export interface BodyQuery {
  /** Number of entries. */
  readonly count?: number;
  readonly unreadable?: "metadata";
}

const NOTHING: ReadBody = { body: undefined, warnings: [], file: undefined, fingerprint: "" };

/** Returns a function that reads a query string. It throws invalid_query with all faults: unknown, repeated, invalid. */
export function queryReader({ query }: Pick<Endpoint, "query">): (querystring: string) => unknown {
  const validate = query === undefined ? noneAllowed : compile(query, "query");
  const tidy = tidier(query ?? {});
  const integers = Object.entries(propertiesOf(query)).flatMap(([name, { type }]) => (type === "integer" ? name : []));
  return (querystring) => {
    if (querystring === "" && query === undefined) return {};
    const given = Object.create(null) as Record<string, unknown>; // with no prototype, __proto__ is an ordinary name
    const faults: Fault[] = [];
    for (const [name, value] of new URLSearchParams(querystring)) {
      if (Object.hasOwn(given, name)) faults.push({ pointer: `/${name}`, detail: "is given more than once" });
      given[name] = value;
    }
    tidy(given);
    // Ajv itself would take the text "Infinity" for an integer, and would compare it with no bound.
    for (const name of integers) if (Number(given[name])) given[name] = Number(given[name]);
    throwFaults("invalid_query", "The query is not valid.", [...faults, ...validate(given)]);
    return given;
  };
}

function noneAllowed(query: unknown): Fault[] {
  const detail = "is not known: this endpoint takes no query parameters";
  return Object.keys(query as object).map((name) => ({ pointer: `/${name}`, detail }));
}

/** Returns a function that tidies a value in place, and validates it. It throws validation_failed. @param what names the value. */
export function checker<Schema extends TSchema>(
  schema: Schema,
  what: string,
  keepUnreadable?: Route["keepUnreadable"],
): (body: unknown, query?: BodyQuery) => Checked<Static<Schema>> {
  const validate = compile(schema, "json");
  const tidy = tidier(schema);
  return (body, { unreadable } = {}) => {
    const value = tidy(body);
    let faults = validate(value);
    const warnings: Fault[] = [];
    // More than once: a value with many faults lists only the first.
    for (let kept; unreadable === "metadata" && (kept = keepUnreadable?.(value, faults))?.length;) {
      warnings.push(...kept);
      faults = validate(value);
    }
    throwFaults("validation_failed", `The ${what} is not valid.`, faults);
    return { value: value as Static<Schema>, warnings };
  };
}

/**
 * Returns a function that reads a request's body. It throws payload_too_large, unsupported_media_type, malformed_json,
 * malformed_request, request_timeout, validation_failed, and what the endpoint's `store` throws.
 */
export function bodyReader(
  { body: declared, entries, keepUnreadable, upload, bodyOptional, method }: Route,
  { bodyTimeoutMs, maxFileBytes }: { bodyTimeoutMs: number; maxFileBytes: number },
): (req: IncomingMessage, caller: Requester, params: Record<string, string>, query?: BodyQuery) => Promise<ReadBody> {
  if (declared === undefined && upload === undefined) return () => Promise.resolve(NOTHING);
  const schema = entries?.schema ?? declared;
  // Take the fingerprint before: it identifies the body as sent.
  const checked = checker(schema ?? {}, entries === undefined ? "body" : "entry", keepUnreadable);
  if (entries !== undefined) {
    const read = entriesReader(entries, bodyTimeoutMs);
    return async (req, _caller, _params, query = {}) => ({
      ...NOTHING,
      ...(await read(req, query.count ?? 0, (body) => checked(body, query))),
    });
  }
  const types = ["application/json"];
  if (method === "PATCH") types.push("application/merge-patch+json");
  if (upload?.form !== undefined) types.push("multipart/form-data");
  return async (req, caller, params, query = {}) => {
    if (upload !== undefined && (upload.form === undefined || contentTypeOf(req)?.essence === "multipart/form-data")) {
      const rules = { maxFileBytes, timeoutMs: bodyTimeoutMs };
      const open = upload.form === undefined ? openRaw(req, rules) : openForm(req, schema, rules);
      let file: StoredFile | undefined;
      try {
        const arriving = await open.file;
        const precondition = ifMatch(req.headers["if-match"]);
        if (arriving !== undefined) {
          const contentType = declaredType(arriving.contentType);
          file = await upload.store(caller, params, { ...arriving, contentType }, precondition);
        }
        const fields = await open.fields();
        const fingerprint = fingerprintOf(fields, file);
        const { value, warnings } = checked(fields, query);
        return { body: schema === undefined ? undefined : value, warnings, file, fingerprint };
      } catch (error) {
        if (file !== undefined) await upload.discard(file);
        throw error;
      } finally {
        open.close();
      }
    }
    if (!hasBody(req)) {
      if (bodyOptional) return { ...NOTHING, body: {} };
      throw problem("malformed_json", "The request has no body. Send a JSON object, at least {}.");
    }
    const body = await readJson(req, { types, timeoutMs: bodyTimeoutMs, optional: bodyOptional === true });
    const fingerprint = JSON.stringify(body);
    const { value, warnings } = checked(body, query);
    return { body: value, warnings, file: undefined, fingerprint };
  };
}

function throwFaults(code: "invalid_query" | "validation_failed", summary: string, faults: Fault[]): void {
  const first = faults[0];
  if (first === undefined) return;
  const others = Math.min(faults.length - 1, MAX_FAULTS);
  const more = others === 0 ? "" : ` (and ${others === MAX_FAULTS ? "at least " : ""}${others} more)`;
  const sentence = `${summary} ${first.pointer === "" ? "It" : first.pointer} ${first.detail}${more}`;
  throw problem(code, sentence.endsWith("?") ? sentence : `${sentence}.`, { errors: listed(faults) });
}
