import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "chai";
import { resolved, reviewedContract } from "../support/contract.ts";

type Schema = Record<string, unknown>;

const contract = reviewedContract();
const schemas = Object.entries(contract.components.schemas);
const operations = Object.entries(contract.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ at: `${method.toUpperCase()} ${path}`, ...operation })),
);
/** Every field of every schema, with a name for messages. */
const fields = schemas.flatMap(([name, schema]) =>
  Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).map(
    ([field, value]) => [`${name}.${field}`, value] as const,
  ),
);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
ajv.addFormat("idn-email", true);
ajv.addSchema(contract, "contract");

/** Returns what is wrong with a value, according to a schema of the contract. */
function faults(schema: Schema, value: unknown): unknown {
  const absolute = JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"contract#/')) as Schema;
  const validate = ajv.compile(absolute);
  return validate(value) ? [] : validate.errors;
}

/** A field that has a schema with a name, or a list of one, has the examples of that schema. */
function isNamed({ $ref, anyOf, items }: Schema): boolean {
  return $ref !== undefined || anyOf !== undefined || (items !== undefined && "$ref" in (items as Schema));
}

describe("the contract", () => {
  it("is valid for a validator that uses the schema of OpenAPI", async () => {
    const { valid, errors } = await new Validator().validate({ ...contract });
    expect(errors ?? []).to.deep.equal([]);
    expect(valid).to.equal(true);
  });

  it("says of every operation what it does, and gives it one of the described tags", () => {
    const tags = contract.tags.map(({ name }) => name);
    for (const { at, operationId, summary, description, tags: own } of operations) {
      expect(operationId, at).to.match(/^[a-z]+[A-Za-z]+$/);
      expect(summary.length, at).to.be.within(8, 100);
      expect(description, at).to.match(/^[A-Z].+\.$/);
      expect(own, at).to.have.length(1);
      expect(tags, at).to.include(own[0]);
    }
    expect(new Set(operations.map(({ operationId }) => operationId)).size).to.equal(operations.length);
    for (const { name, description } of contract.tags) expect(description, name).to.match(/^[A-Z].+\.$/);
  });

  it("says of every field, parameter and schema what it means", () => {
    for (const [name, { description }] of [...fields, ...schemas]) expect(description, name).to.match(/^[A-Z\d].+\.$/);
    for (const { at, parameters } of operations)
      for (const each of parameters) {
        const { name, description } = resolved<Schema>(contract, each);
        expect(description, `${at} ${String(name)}`).to.match(/^[A-Z].+\.$/);
      }
  });

  it("has an example of every field, which its schema allows", () => {
    for (const [name, field] of fields) {
      const { examples } = field;
      if (!isNamed(field) && field["format"] !== "binary")
        expect((examples as unknown[] | undefined)?.length, name).to.equal(1);
      for (const example of (examples ?? []) as unknown[]) expect(faults(field, example), name).to.deep.equal([]);
    }
    for (const { at, parameters } of operations)
      for (const each of parameters) {
        const { name, schema, example } = resolved<Schema>(contract, each);
        if (name !== "cursor") expect(faults(schema as Schema, example), `${at} ${String(name)}`).to.deep.equal([]);
      }
  });

  it("has an example of every problem, with its code", () => {
    const examples = Object.entries(contract.components.examples);
    const { enum: codes } = (contract.components.schemas["Problem"]!["properties"] as Record<string, Schema>)["code"]!;
    expect(examples.map(([code]) => code)).to.have.members(codes as string[]);
    for (const [code, { value }] of examples) {
      expect(faults({ $ref: "#/components/schemas/Problem" }, value), code).to.deep.equal([]);
      expect(value["code"]).to.equal(code);
    }
  });

  // Go's constructor of a schema X is NewX. A body without a name makes Java and TypeScript refer to a type that is missing.
  it("has a name for every body and response that is not a file, and none that begins with New", () => {
    for (const [name] of schemas) expect(name).to.match(/^(?!New)[A-Z][A-Za-z]+$/);
    for (const { at, requestBody, responses } of operations)
      for (const { content } of [
        requestBody,
        ...Object.values(responses).map((each) => resolved(contract, each)),
      ].filter((each) => each !== undefined))
        for (const [type, { schema }] of Object.entries((content ?? {}) as Record<string, { schema: Schema }>))
          expect(schema["format"] === "binary" || "$ref" in schema, `${at} ${type}`).to.equal(true);
  });

  it("names application/octet-stream first wherever any type of file is taken or answered", () => {
    const types = operations.flatMap(({ requestBody, responses }) =>
      [requestBody, ...Object.values(responses).map((each) => resolved(contract, each))].map((each) =>
        Object.keys((each as { content?: object } | undefined)?.content ?? {}),
      ),
    );
    const files = types.filter((each) => each.includes("*/*"));
    expect(files).to.deep.equal(Array.from({ length: 3 }, () => ["application/octet-stream", "*/*"]));
  });

  // Java's generator makes a map of an object with additionalProperties: false, and sends none of its fields.
  it("has no keyword of its own and no closed object, and in responses none that would refuse what a later version sends", () => {
    expect(JSON.stringify(contract)).not.to.match(/"x-[a-z-]+":|"additionalProperties":false/);
    const responses = new Set<string>();
    const collect = (value: unknown): void => {
      for (const [, name] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g))
        if (!responses.has(name!)) collect((responses.add(name!), contract.components.schemas[name!]));
    };
    for (const { responses } of operations) collect(Object.values(responses).map((each) => resolved(contract, each)));
    expect(responses).to.include("Candidate").and.to.include("Quota");
    for (const name of responses)
      expect(JSON.stringify(contract.components.schemas[name]), name).not.to.match(
        /"(pattern|maxLength|maxItems|uniqueItems|const)":/,
      );
  });
});
