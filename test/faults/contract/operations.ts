import fc from "fast-check";
import type { Sent } from "./exchange.ts";
import { fromSchema, type JsonSchema, resolve, spoiled } from "./schema-arbitrary.ts";
import { type Holdings, SHARED, type World } from "./world.ts";

/** One operation of the contract. */
export interface Operation {
  readonly method: string;
  /** As OpenAPI writes it: `/candidates/{id}`. */
  readonly template: string;
  readonly parameters: readonly { name: string; in: string; schema: JsonSchema }[];
  readonly bodies: Record<string, { schema: JsonSchema }>;
  readonly responses: Record<string, { content?: Record<string, { schema: { $ref: string } }> }>;
}

export function operationsOf(contract: JsonSchema): Operation[] {
  const paths = contract.paths as Record<string, Record<string, JsonSchema>>;
  const resolved = (each: JsonSchema) => (typeof each.$ref === "string" ? resolve(each.$ref, contract) : each);
  return Object.entries(paths).flatMap(([template, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody, responses }]) => ({
      method: method.toUpperCase(),
      template,
      parameters: ((parameters ?? []) as JsonSchema[]).map((each) => resolved(each) as Operation["parameters"][0]),
      bodies: ((requestBody as JsonSchema | undefined)?.content ?? {}) as Operation["bodies"],
      responses: Object.fromEntries(
        Object.entries(responses as Record<string, JsonSchema>).map(([status, each]) => [status, resolved(each)]),
      ) as Operation["responses"],
    })),
  );
}

/** Generates requests for an operation: most are valid by the contract, the others nearly so. The sender adds the API key. */
export function requestsFor(operation: Operation, contract: JsonSchema, world: World): fc.Arbitrary<Sent> {
  return fc
    .tuple(
      pathOf(operation, world),
      queryOf(operation, contract),
      headersOf(operation, world),
      bodyOf(operation, contract),
    )
    .map(([path, query, headers, { type, body }]) => ({
      method: operation.method,
      path: path + query,
      headers: { ...headers, ...(type === undefined ? {} : { "Content-Type": type }) },
      body,
    }));
}

function pathOf({ template }: Operation, { own, theirs }: World): fc.Arbitrary<string> {
  const filled = ({ candidates, documents, references }: Holdings) => {
    if (template.includes("{docId}")) return fc.constantFrom(...documents).map(({ candidate, id }) => [candidate, id]);
    return fc.constantFrom(...(template.startsWith("/references") ? references : candidates)).map((id) => [id]);
  };
  const odd = fc.string({ unit: "binary", minLength: 1, maxLength: 40 }).map((text) => encodeURIComponent(text));
  const names = fc.oneof(
    { weight: 8, arbitrary: filled(own) },
    { weight: 2, arbitrary: filled(theirs) },
    // The other account's document under a candidate of the own account.
    {
      weight: 1,
      arbitrary: fc.tuple(filled(own), filled(theirs)).map(([[mine = ""], both]) => [mine, ...both.slice(1)]),
    },
    { weight: 1, arbitrary: fc.tuple(odd, odd) },
  );
  return names.map((parts) => {
    const left = [...parts];
    return template.replaceAll(/\{\w+\}/g, () => left.shift() ?? "none");
  });
}

function queryOf({ parameters }: Operation, contract: JsonSchema): fc.Arbitrary<string> {
  const taken = parameters.filter((each) => each.in === "query");
  const good = fc.record(
    Object.fromEntries(
      taken.map(({ name, schema }) => [name, name === "cursor" ? fc.constant("0") : fromSchema(schema, contract)]),
    ),
    { requiredKeys: [] },
  );
  const odd = fc.dictionary(
    fc.constantFrom("limit", "cursor", "unknown", "__proto__", "state", "format"),
    fc.string({ unit: "binary" }),
    { maxKeys: 2 },
  );
  return fc.oneof({ weight: 6, arbitrary: good }, { weight: 1, arbitrary: odd }).map((query) => {
    const pairs = Object.entries(query).map(
      ([name, value]) =>
        `${encodeURIComponent(name)}=${encodeURIComponent(typeof value === "string" ? value : JSON.stringify(value))}`,
    );
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  });
}

function headersOf({ method, template }: Operation, { own, theirs }: World): fc.Arbitrary<Record<string, string>> {
  const visible = fc.stringMatching(/^[!-~]([ -~]{0,30}[!-~])?$/);
  const tags = fc.oneof(fc.constantFrom("*", "", '"', 'W/"x"', ...own.etags, ...theirs.etags), visible);
  const maybe = (value: fc.Arbitrary<string>) => fc.option(value, { freq: 2, nil: undefined });
  return fc
    .record({
      "X-Request-Id": maybe(visible),
      "If-Match": method === "GET" ? fc.constant(undefined) : maybe(tags),
      "If-None-Match": method === "GET" ? maybe(tags) : fc.constant(undefined),
      "Idempotency-Key":
        method === "POST" ? maybe(fc.oneof(fc.constant(SHARED), visible, fc.uuid())) : fc.constant(undefined),
      Accept: template.endsWith("/pack")
        ? maybe(
            fc.constantFrom("application/pdf", "application/zip", "application/json", "text/html", "*/*;q=0.1", "x"),
          )
        : maybe(visible),
      Range: template.endsWith("/content")
        ? maybe(
            fc.oneof(
              fc.constantFrom("bytes=0-3", "bytes=5-", "bytes=-2", "bytes=99999-", "bytes=3-1", "bytes=0-1,3-4"),
              visible,
            ),
          )
        : fc.constant(undefined),
      "Content-Disposition":
        method === "PUT"
          ? maybe(
              fc.oneof(
                fc.constantFrom('attachment; filename="a.txt"', "attachment; filename*=UTF-8''%e2%82%ac.txt"),
                visible,
              ),
            )
          : fc.constant(undefined),
    })
    .map((headers) =>
      Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined)),
    );
}

interface TypedBody {
  type: string | undefined;
  body: Uint8Array | undefined;
}

function bodyOf({ bodies }: Operation, contract: JsonSchema): fc.Arbitrary<TypedBody> {
  const types = Object.keys(bodies);
  if (types.length === 0) return fc.constant({ type: undefined, body: undefined });
  const encoded =
    (type: string) =>
    (value: unknown): TypedBody => ({ type, body: Buffer.from(JSON.stringify(value) ?? "") });
  const kinds = types.flatMap((type) => {
    const { schema } = bodies[type] ?? { schema: {} };
    if (type.endsWith("json")) {
      const good = fromSchema(schema, contract);
      return [
        { weight: 8, arbitrary: good.map(encoded(type)) },
        { weight: 5, arbitrary: spoiled(good).map(encoded(type)) },
      ];
    }
    if (type === "multipart/form-data") return [{ weight: 4, arbitrary: form(schema, contract) }];
    return [
      {
        weight: 8,
        arbitrary: fc
          .tuple(
            fc.constantFrom("text/plain", "application/pdf", "image/svg+xml", "nonsense"),
            fc.uint8Array({ maxLength: 500 }),
          )
          .map(([kind, body]) => ({ type: kind, body })),
      },
    ];
  });
  const garbage = fc.record({
    type: fc.constantFrom(
      undefined,
      "text/plain",
      "application/json",
      "application/json; charset=utf-16",
      "multipart/form-data",
      "multipart/form-data; boundary=x",
    ),
    body: fc.oneof(
      fc.constant(undefined),
      fc.uint8Array({ maxLength: 100 }),
      fc
        .constantFrom("{", "[".repeat(50_000), '{"a":1,"a":2}', "null", "--x\r\n", '"\\ud800"')
        .map((text) => Buffer.from(text)),
    ),
  });
  return fc.oneof(...kinds, { weight: 2, arbitrary: garbage });
}

function form({ $ref }: JsonSchema, contract: JsonSchema): fc.Arbitrary<TypedBody> {
  const { properties } = resolve($ref as string, contract) as JsonSchema;
  const { content: _, ...fields } = properties as Record<string, JsonSchema>;
  const values = fc.record(
    Object.fromEntries(Object.entries(fields).map(([name, each]) => [name, fromSchema(each, contract)])),
    { requiredKeys: [] },
  );
  const file = fc.option(fc.uint8Array({ maxLength: 500 }), { nil: undefined });
  return fc.tuple(values, file).map(([given, bytes]) => {
    const parts = Object.entries(given).map(([name, value]) => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return Buffer.from(`--b0undary\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`);
    });
    if (bytes !== undefined) {
      parts.push(
        Buffer.from(
          '--b0undary\r\nContent-Disposition: form-data; name="content"; filename="a.bin"\r\nContent-Type: application/octet-stream\r\n\r\n',
        ),
        Buffer.from(bytes),
        Buffer.from("\r\n"),
      );
    }
    return {
      type: "multipart/form-data; boundary=b0undary",
      body: Buffer.concat([...parts, Buffer.from("--b0undary--\r\n")]),
    };
  });
}
