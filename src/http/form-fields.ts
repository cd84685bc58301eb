import type { TSchema } from "typebox";
import { type Fault, listed, Problem, problem } from "../problems.ts";
import { propertiesOf } from "../schema/fields.ts";
import { escapePointer } from "../schema/pointer.ts";
import { MAX_JSON_BYTES } from "./body.ts";
import { MAX_VALUES, parseJson } from "./json.ts";

/**
 * Collects the fields of a form (RFC 7578) into the object that a JSON body would be. A field that the schema allows to
 * be a string is taken as text. A field of any other type is parsed as JSON: `true`, `{"a":"b"}`.
 */
export function formFields(schema: TSchema | undefined, takesAnyText = false) {
  const properties = propertiesOf(schema);
  const given = new Map<string, unknown>();
  const faults: Fault[] = [];
  let bytes = 0;
  let count = 0;

  const has = (name: string) => Object.hasOwn(properties, name);

  /** @throws problem payload_too_large if all fields together are larger, or have more values, than a JSON body may. */
  function add(name: string | undefined, text: string): void {
    if (name === undefined) return void faults.push({ pointer: "", detail: "must have a name for every part" });
    bytes += Buffer.byteLength(name) + Buffer.byteLength(text);
    if (bytes > MAX_JSON_BYTES) throw fieldsTooLarge();
    const pointer = `/${escapePointer(name)}`;
    if (given.has(name)) faults.push({ pointer, detail: "is given more than once" });
    // The parser replaces bytes that are not UTF-8 with U+FFFD. Refuse those: the original text is lost.
    else if (!takesAnyText && `${name}${text}`.includes("\uFFFD"))
      faults.push({ pointer, detail: "must be UTF-8 text without replacement characters" });
    given.set(name, valueOf(name, text, pointer));
  }

  /** @throws problem validation_failed for faults that a schema cannot see: repeats, text that is not Unicode. */
  function finish(): Record<string, unknown> {
    const [first] = faults;
    if (first === undefined) return Object.fromEntries(given);
    const detail = `The form is not valid. ${first.pointer === "" ? "It" : first.pointer} ${first.detail}.`;
    throw problem("validation_failed", detail, { errors: listed(faults) });
  }

  function valueOf(name: string, text: string, pointer: string): unknown {
    if (!has(name) || [properties[name]?.["type"]].flat().includes("string")) return text;
    try {
      const parsed = parseJson(Buffer.from(text), MAX_VALUES - count);
      count += parsed.values;
      faults.push(...parsed.faults.map((fault) => ({ ...fault, pointer: pointer + fault.pointer })));
      return parsed.value;
    } catch (error) {
      if (error instanceof Problem && error.code === "malformed_json") return text; // schema validation then says which type it must have
      throw error;
    }
  }

  return { has, add, finish };
}

export function fieldsTooLarge(): Error {
  const detail = `The form's fields are too large. Send at most ${MAX_JSON_BYTES} bytes in all fields together.`;
  return problem("payload_too_large", detail);
}
