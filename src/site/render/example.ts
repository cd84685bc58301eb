import { type Operation, type Parameter, resolved, type Schema } from "./contract.ts";

/**
 * Returns the example of a schema: its own, or one put together from those of its parts.
 * @throws if a part has none.
 */
export function exampleOf(given: Schema): unknown {
  const { examples, oneOf, anyOf = oneOf, items, type, properties = {} } = resolved(given);
  if (examples?.[0] !== undefined) return examples[0];
  if (anyOf?.[0] !== undefined) return exampleOf(anyOf[0]);
  if (items !== undefined) return [exampleOf(items)];
  if (type !== "object") throw new Error(`The contract has no example of ${JSON.stringify(given)}.`);
  return Object.fromEntries(Object.entries(properties).map(([name, member]) => [name, exampleOf(member)]));
}

export function exampleOfParameter({ example, schema }: Parameter): string {
  return textOf(example ?? exampleOf(schema));
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the operation as a command for a shell that has BASE and KEY. */
export function curlOf({ method, path, parameters, requestBody, security }: Operation): string {
  const inPath = parameters.filter((parameter) => parameter.in === "path");
  const url = inPath.reduce((text, each) => text.replace(`{${each.name}}`, exampleOfParameter(each)), path);
  const lines = [`curl -sS ${method === "GET" ? "" : `-X ${method} `}"$BASE${url}"`];
  if (security?.length !== 0) lines.push('-H "Authorization: Bearer $KEY"');
  if (method === "POST") lines.push('-H "Idempotency-Key: import-row-4711"');
  const [type = "", media] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  if (media !== undefined && type.includes("json")) {
    lines.push(`-H "Content-Type: ${type}"`);
    lines.push(`-d '${JSON.stringify(exampleOf(media.schema), null, 2).replaceAll("'", "'\\''")}'`);
  } else if (media !== undefined) {
    lines.push('-H "Content-Type: application/pdf"', "--data-binary @passport.pdf");
  }
  return lines.join(" \\\n  ");
}
