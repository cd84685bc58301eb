import { openApi } from "../../api/openapi.ts";
import type { Surface } from "../../limiter/surfaces.ts";
import { type ProblemCode, PROBLEMS } from "../../problems.ts";
import { routes, type Services } from "../../routes.ts";

/** The parts of a JSON Schema that the reference shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
}

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
}

/** A parameter of a request, or a header of a response, which has neither `name` nor `in`. */
export interface Parameter extends Media {
  readonly $ref?: string;
  readonly name?: string;
  readonly in?: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
}

export interface ResponseOf {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Parameter>>;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly $ref?: string;
    readonly required?: boolean;
    readonly description?: string;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Readonly<Record<string, ResponseOf>>;
  readonly security?: readonly object[];
}

/** The parts of the OpenAPI document that the reference shows. */
export interface Contract {
  readonly tags?: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Parameter>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>;
    readonly securitySchemes: Readonly<Record<string, { readonly type: string; readonly description?: string }>>;
  };
}

/** An operation with what its place in the contract says about it. */
export interface Listed extends Operation {
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly surface: Surface | "free";
  readonly codes: readonly ProblemCode[];
}

/** The handlers are never called, so no service is needed. */
const ROUTES = routes({} as Services);

export const CONTRACT = openApi(ROUTES) as unknown as Contract;

export const OPERATIONS: readonly Listed[] = Object.entries(CONTRACT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    ...operation,
    method: method.toUpperCase(),
    path,
    tag: operation.tags?.[0] ?? path.split("/")[1] ?? "",
    surface: ROUTES.find(({ name }) => name === operation.operationId)?.surface ?? "free",
    codes: codesOf(operation),
  })),
);

export const TAGS: readonly string[] = [...new Set(OPERATIONS.map(({ tag }) => tag))];

/** Follows `$ref` until there is none. */
export function resolved<T extends { readonly $ref?: string }>(value: T): T {
  if (value.$ref === undefined) return value;
  const target = value.$ref
    .split("/")
    .slice(1)
    .reduce<unknown>((found, name) => (found as Record<string, unknown> | undefined)?.[name], CONTRACT);
  if (target === undefined) throw new Error(`The contract has no ${value.$ref}.`);
  return resolved(target as T);
}

/** Returns the name of a component: `Candidate` of `#/components/schemas/Candidate`. */
export function nameOf(ref: string): string {
  return ref.split("/").at(-1) ?? ref;
}

/** Returns the codes with which an operation can be refused. The descriptions of its refusals list them. */
function codesOf({ responses }: Operation): ProblemCode[] {
  return Object.entries(responses).flatMap(([status, response]) =>
    /^[45]/.test(status) ? (resolved(response).description ?? "").split(", ").filter(isCode) : [],
  );
}

function isCode(text: string): text is ProblemCode {
  return Object.hasOwn(PROBLEMS, text);
}
