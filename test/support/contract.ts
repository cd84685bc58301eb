import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";

type Json = Record<string, unknown>;

interface Ref {
  readonly $ref: string;
}

interface Response {
  readonly description: string;
  readonly headers?: Record<string, Ref>;
  readonly content?: Record<string, { readonly schema: Ref; readonly examples?: Record<string, Ref> }>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters: readonly Json[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: Json }> };
  readonly responses: Record<string, Response | Ref>;
}

export interface Contract {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: {
    readonly schemas: Record<string, Json>;
    readonly headers: Record<string, { readonly required?: boolean }>;
    readonly responses: Record<string, Response>;
    readonly examples: Record<string, { readonly value: Json }>;
    readonly parameters: Record<string, Json>;
  };
}

export interface Exchange {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  /** Parsed, if it is JSON. */
  readonly body: unknown;
}

/** Headers of HTTP itself, which the contract does not name. */
const PLAIN = new Set(["connection", "content-length", "content-type", "date", "keep-alive", "transfer-encoding"]);

let reviewed: Contract | undefined;
let strict: Ajv2020 | undefined;
const validators = new Map<string, ValidateFunction>();

/** The contract as it was reviewed. test/api/openapi.test.ts holds the service to it. */
export function reviewedContract(): Contract {
  return (reviewed ??= JSON.parse(
    readFileSync(new URL("../api/openapi.snapshot.json", import.meta.url), "utf8"),
  ) as Contract);
}

/**
 * Expects an answer to be as the contract says: its status, media type, headers, body and problem code. A path or a
 * method that the contract does not have is not checked. Members that the contract does not name are refused here,
 * although clients must ignore them.
 */
export function expectInContract({ method, path, status, headers, body }: Exchange): void {
  const contract = reviewedContract();
  const operation = operationAt(contract, method, path);
  if (operation === undefined) return;
  const about = `${method} ${path} (${operation.operationId}) ${status}`;
  const declared = operation.responses[status] ?? operation.responses[`${Math.floor(status / 100)}XX`];
  expect(declared, `${about}: the contract does not have this status. ${JSON.stringify(body)}`).not.to.equal(undefined);
  const response = resolved<Response>(contract, declared!);
  expectHeaders(contract, response, headers, about);
  if (response.content === undefined) return;
  const mediaType = (headers.get("content-type") ?? "").split(";")[0]!;
  const content = response.content[mediaType] ?? response.content["*/*"];
  expect(content, `${about}: the contract does not have the media type ${mediaType}`).not.to.equal(undefined);
  if (!/json/.test(mediaType) || response.content["*/*"] !== undefined) return;
  const validate = validatorOf(content!.schema.$ref);
  expect(validate(body) ? [] : validate.errors, `${about}: the body ${JSON.stringify(body)}`).to.deep.equal([]);
  if (content!.examples !== undefined) expect(Object.keys(content!.examples), about).to.include((body as Json)["code"]);
}

/** Returns a validator for a schema of the reviewed contract that refuses members which the schema does not name. */
export function validatorOf(ref: string): ValidateFunction {
  const known = validators.get(ref);
  if (known !== undefined) return known;
  if (strict === undefined) {
    strict = new Ajv2020({ strict: false, allErrors: true });
    addFormats.default(strict);
    strict.addFormat("idn-email", true);
    strict.addSchema(closed(reviewedContract()) as Json, "contract");
  }
  const made = strict.compile({ $ref: `contract${ref}` });
  validators.set(ref, made);
  return made;
}

/** Follows a reference, if it is one. */
export function resolved<T extends object>(contract: Contract, value: T | Ref): T {
  if (!("$ref" in value)) return value;
  const steps = value.$ref.slice("#/".length).split("/");
  return steps.reduce<unknown>((part, step) => (part as Json)[step], contract) as T;
}

function operationAt({ paths }: Contract, method: string, path: string): Operation | undefined {
  const segments = path.split("?")[0]!.split("/");
  const template = Object.keys(paths).find((each) => {
    const expected = each.split("/");
    return (
      expected.length === segments.length &&
      expected.every((name, n) => (name.startsWith("{") ? segments[n] !== "" : name === segments[n]))
    );
  });
  return template === undefined ? undefined : paths[template]![method.toLowerCase()];
}

function expectHeaders(contract: Contract, response: Response, headers: Headers, about: string): void {
  const declared = Object.entries(response.headers ?? {});
  for (const [name, ref] of declared) {
    const { required } = resolved<{ required?: boolean }>(contract, ref);
    if (required) expect(headers.get(name), `${about}: the header ${name}`).not.to.equal(null);
  }
  const names = declared.map(([name]) => name.toLowerCase());
  const unknown = [...headers.keys()].filter((name) => !PLAIN.has(name) && !names.includes(name));
  expect(unknown, `${about}: headers that the contract does not have`).to.deep.equal([]);
}

/** The same schemas, each without members that it does not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, closed(member)]));
  const isObjectSchema = copy["type"] === "object" && "properties" in copy && !("additionalProperties" in copy);
  return isObjectSchema ? { ...copy, additionalProperties: false } : copy;
}
