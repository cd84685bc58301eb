import type { TSchema } from "typebox";
import { type Fault, listed, Problem, problem } from "../problems.ts";
import { MAX_JSON_BYTES } from "./body.ts";
import { MAX_VALUES, parseJson } from "./json.ts";
import { escapePointer } from "../schema/pointer.ts";

/**
 * Collects the fields of a form (RFC 7578) into the object that a JSON body would be. A field that the schema allows to
 * be a string is taken as text. A field of any other type is parsed as JSON: `true`, `{"a":"b"}`.
 */
export class FormFields {
  readonly #types: ReadonlyMap<string, readonly string[]>;
  readonly #given = new Map<string, unknown>();
  readonly #faults: Fault[] = [];
  #bytes = 0;
  #values = 0;

  constructor(schema: TSchema | undefined) {
    this.#types = typesOf(schema);
  }

  /** Returns whether the schema has a field of this name. */
  has(name: string): boolean {
    return this.#types.has(name);
  }

  /** @throws problem payload_too_large if all fields together are larger, or have more values, than a JSON body may. */
  add(name: string | undefined, text: string, truncated: boolean): void {
    if (name === undefined) return this.fault("", "must have a name for every part");
    this.#bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (truncated || this.#bytes > MAX_JSON_BYTES) {
      throw problem(
        "payload_too_large",
        `The form's fields are too large. Send at most ${MAX_JSON_BYTES} bytes in all fields together.`,
      );
    }
    const pointer = `/${escapePointer(name)}`;
    if (this.#given.has(name)) this.fault(pointer, "is given more than once");
    // The parser replaces bytes that are not UTF-8 with U+FFFD. Refuse those: the original text is lost.
    else if (`${name}${text}`.includes("\uFFFD"))
      this.fault(pointer, "must be UTF-8 text without replacement characters");
    this.#given.set(name, this.#valueOf(name, text, pointer));
  }

  fault(pointer: string, detail: string): void {
    this.#faults.push({ pointer, detail });
  }

  /**
   * Returns the object.
   * @throws problem validation_failed for faults that a schema cannot see: repeats, text that is not Unicode.
   */
  finish(): Record<string, unknown> {
    const first = this.#faults[0];
    if (first !== undefined) {
      const subject = first.pointer === "" ? "It" : first.pointer;
      throw problem("validation_failed", `The form is not valid. ${subject} ${first.detail}.`, {
        errors: listed(this.#faults),
      });
    }
    return Object.fromEntries(this.#given);
  }

  #valueOf(name: string, text: string, pointer: string): unknown {
    const types = this.#types.get(name);
    if (types === undefined || types.includes("string")) return text;
    try {
      const { value, values, faults } = parseJson(Buffer.from(text), MAX_VALUES - this.#values);
      this.#values += values;
      for (const fault of faults) this.fault(pointer + fault.pointer, fault.detail);
      return value;
    } catch (error) {
      if (error instanceof Problem && error.code === "malformed_json") return text; // schema validation then says which type it must have
      throw error;
    }
  }
}

function typesOf(schema: TSchema | undefined): Map<string, string[]> {
  if (schema === undefined || !("properties" in schema)) return new Map();
  const properties = Object.entries(schema.properties as Record<string, { type?: string | string[] }>);
  return new Map(properties.map(([name, { type }]) => [name, [type ?? []].flat()]));
}
