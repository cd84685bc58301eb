import { type Listed, type Media, type Parameter, resolved, type Schema } from "./contract.ts";

/**
 * Returns the example of a schema: its own, or one put together from those of its parts.
 * @throws if a part has none.
 */
function exampleOf(given: Schema): unknown {
  const { example, examples, oneOf, anyOf = oneOf, items, type, properties = {} } = resolved(given);
  const own = example ?? examples?.[0];
  if (own !== undefined) return own;
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0]);
  if (items !== undefined) return [exampleOf(items)];
  if (type !== "object") throw new Error(`The contract has no example of ${JSON.stringify(given)}.`);
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]));
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
