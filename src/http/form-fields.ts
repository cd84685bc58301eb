import type { TSchema } from "typebox";
import { type Fault, Problem, problem } from "../problems.ts";
import { MAX_JSON_BYTES, parse } from "./body.ts";
import { escapePointer } from "../schema/pointer.ts";

/**
 * The fields of a form (RFC 7578) on their way to the object that JSON would have brought. A field that the schema has as
 * text is taken as it is; of any other type it is JSON text: `true`, `{"a":"b"}`.
 */
export class FormFields {
  readonly #types: ReadonlyMap<string, readonly string[]>;
  readonly #given = new Map<string, unknown>();
  readonly #faults: Fault[] = [];
  #bytes = 0;

  constructor(schema: TSchema | undefined) {
    this.#types = typesOf(schema);
  }

  /** @throws problem payload_too_large where the fields together get larger than a JSON body may be. */
  add(name: string | undefined, text: string, truncated: boolean): void {
    if (name === undefined) return this.fault("", "has a part without a name");
    this.#bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (truncated || this.#bytes > MAX_JSON_BYTES) {
      throw problem("payload_too_large", `The fields of a form may have at most ${MAX_JSON_BYTES} bytes.`);
    }
    const pointer = `/${escapePointer(name)}`;
    if (this.#given.has(name)) this.fault(pointer, "is given more than once");
    // The parser puts U+FFFD for what is not UTF-8: keeping that would be losing what was sent.
    else if (`${name}${text}`.includes("\uFFFD"))
      this.fault(pointer, "must be UTF-8 text without replacement characters");
    this.#given.set(name, this.#valueOf(name, text, pointer));
  }

  fault(pointer: string, detail: string): void {
    this.#faults.push({ pointer, detail });
  }

  /** The object. @throws problem validation_failed for what no schema sees: repeats, text that is not Unicode. */
  finish(): Record<string, unknown> {
    const first = this.#faults[0];
    if (first !== undefined) {
      throw problem("validation_failed", `The form is not valid. ${first.pointer} ${first.detail}.`, {
        errors: this.#faults,
      });
    }
    return Object.fromEntries(this.#given);
  }

  #valueOf(name: string, text: string, pointer: string): unknown {
    const types = this.#types.get(name);
    if (types === undefined || types.includes("string")) return text;
    try {
      const { value, faults } = parse(Buffer.from(text));
      for (const fault of faults) this.fault(pointer + fault.pointer, fault.detail);
      return value;
    } catch (error) {
      if (error instanceof Problem) return text; // for the schema to say what it should have been
      throw error;
    }
  }
}

function typesOf(schema: TSchema | undefined): Map<string, string[]> {
  if (schema === undefined || !("properties" in schema)) return new Map();
  const properties = Object.entries(schema.properties as Record<string, { type?: string | string[] }>);
  return new Map(properties.map(([name, { type }]) => [name, [type ?? []].flat()]));
}
