import { type Listed, type Media, type Parameter, resolved, type Schema } from "./contract.ts";

const FORMATS: Record<string, string> = {
  "date-time": "2026-11-22T09:30:00.000Z",
  date: "2026-12-01",
  email: "ada@example.com",
  "idn-email": "ada@example.com",
  phone: "+14155550123",
  "uri-reference": "/docs#not_found",
  binary: "the bytes of the file",
};

const MAX_DEPTH = 6;

/** Returns a value that the schema allows: the example of the contract, or one that is made from the schema. */
export function exampleOf(given: Schema, depth = 0): unknown {
  const schema = resolved(given);
  const [first] = schema.examples ?? [];
  const said = [schema.example, first, schema.const].find((value) => value !== undefined);
  if (said !== undefined) return said;
  const [choice] = schema.oneOf ?? schema.anyOf ?? schema.allOf ?? [];
  if (choice !== undefined) return exampleOf(choice, depth);
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const type = typeof schema.type === "string" ? schema.type : schema.type?.[0];
  if (schema.properties !== undefined || type === "object") return objectOf(schema, depth);
  if (type === "array")
    return schema.items === undefined || depth > MAX_DEPTH ? [] : [exampleOf(schema.items, depth + 1)];
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "string") return FORMATS[schema.format ?? ""] ?? "text";
  return null;
}

function objectOf({ properties = {} }: Schema, depth: number): Record<string, unknown> {
  if (depth > MAX_DEPTH) return {};
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member, depth + 1)]));
}

export function exampleOfMedia({ example, examples, schema }: Media): unknown {
  const [first] = Object.values(examples ?? {});
  return example ?? first?.value ?? (schema === undefined ? undefined : exampleOf(schema));
}

export function exampleOfParameter(parameter: Parameter): string {
  const { example, examples, schema, name = "" } = resolved(parameter);
  const [first] = Object.values(examples ?? {});
  const value =
    example ?? first?.value ?? (name.toLowerCase().endsWith("id") ? undefined : schema && exampleOf(schema));
  return value === undefined ? `$${name.replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase()}` : textOf(value);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the operation as a command for a shell that has BASE and KEY. */
export function curlOf(operation: Listed): string {
  const { method, path, parameters = [], requestBody, security } = operation;
  const inPath = parameters.map(resolved).filter((parameter) => parameter.in === "path");
  const url = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = inPath.find((candidate) => candidate.name === name);
    return parameter === undefined ? name : exampleOfParameter(parameter);
  });
  const lines = [`curl -sS ${method === "GET" ? "" : `-X ${method} `}"$BASE${url}"`];
  if (security?.length !== 0) lines.push('-H "Authorization: Bearer $KEY"');
  if (method === "POST") lines.push('-H "Idempotency-Key: import-row-4711"');
  const [type = "", media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (media !== undefined && type.includes("json")) {
    lines.push(`-H "Content-Type: ${type}"`);
    lines.push(`-d '${JSON.stringify(exampleOfMedia(media), null, 2).replaceAll("'", "'\\''")}'`);
  } else if (media !== undefined) {
    lines.push('-H "Content-Type: application/pdf"', "--data-binary @passport.pdf");
  }
  return lines.join(" \\\n  ");
}
