import { openApi } from "../../api/openapi.ts";
import type { Tag } from "../../api/openapi-parts.ts";
import { type ProblemCode, PROBLEMS } from "../../problems.ts";
import { routes, type Services } from "../../routes.ts";

type Bound = "minimum" | "maximum" | "minLength" | "maxLength" | "minItems" | "maxItems" | "maxProperties";

/** The parts of a JSON Schema that the reference shows. */
export interface Schema extends Readonly<Partial<Record<Bound, number>>> {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

type Content = Readonly<Record<string, { readonly schema: Schema }>>;

/** A parameter of a request, or a header of a response, which has no `in`. */
export interface Parameter {
  readonly name: string;
  readonly in?: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

type ByName<T> = Readonly<Record<string, T>>;
type Referable<T> = T & { readonly $ref?: string };

/** An operation as the OpenAPI document has it. */
interface Written {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly requestBody?: { readonly required: boolean; readonly description: string; readonly content: Content };
  readonly security?: readonly object[];
  readonly tags: readonly [Tag];
  readonly parameters: readonly Referable<Parameter>[];
  readonly responses: ByName<
    Referable<{ description: string; headers?: ByName<Referable<Omit<Parameter, "name">>>; content?: Content }>
  >;
}

/** The handlers are never called, so no service is needed. */
const ROUTES = routes({} as Services);

const CONTRACT = openApi(ROUTES) as { paths: ByName<ByName<Written>>; components: { schemas: ByName<Schema> } };

export const SCHEMAS = CONTRACT.components.schemas;

/** An operation, with its references to parameters, responses and headers followed. */
export type Operation = (typeof OPERATIONS)[number];

export const OPERATIONS = Object.entries(CONTRACT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, written]) => {
    const responses = responsesOf(written);
    return {
      ...written,
      method: method.toUpperCase(),
      path,
      tag: written.tags[0],
      surface: ROUTES.find(({ name }) => name === written.operationId)?.surface ?? ("free" as const),
      parameters: written.parameters.map(resolved),
      responses,
      /** Codes with which it can be refused. */
      codes: responses.flatMap(codesOf),
    };
  }),
);

/** Tags in the order of the operations. */
export const TAGS_IN_ORDER: readonly Tag[] = [...new Set(OPERATIONS.map(({ tag }) => tag))];

function responsesOf({ responses }: Written) {
  return Object.entries(responses).map(([status, response]) => {
    const { description, headers = {}, content = {} } = resolved(response);
    const named = Object.entries(headers).map(([name, header]) => ({ ...resolved(header), name }));
    return { status, description, headers: named, content };
  });
}

/** Follows `$ref` until there is none. */
export function resolved<T extends { readonly $ref?: string }>(value: T): T {
  if (value.$ref === undefined) return value;
  const [, ...names] = value.$ref.split("/");
  const target = names.reduce<unknown>((found, name) => Object(found)[name], CONTRACT);
  if (target === undefined) throw new Error(`The contract has no ${value.$ref}.`);
  return resolved(target as T);
}

/** Returns the codes with which a response refuses: its description lists them. */
function codesOf({ status, description }: ReturnType<typeof responsesOf>[number]): ProblemCode[] {
  if (!/^[45]/.test(status)) return [];
  return description.split(", ").filter((text): text is ProblemCode => Object.hasOwn(PROBLEMS, text));
}
