import { type Parameter, resolved, type Schema } from "./contract.ts";
import { slugOf } from "./document.ts";
import { type Html, html, raw } from "../../schema/html.ts";
import { inline } from "./markdown.ts";
import { fieldList, joined } from "./parts.ts";

export function typeText({ $ref, oneOf, anyOf = oneOf, type, properties, items }: Schema): Html {
  if ($ref !== undefined) {
    const name = $ref.replace(/^.*\//, "");
    return html`<a href="/docs/schemas#${slugOf(name)}">${name}</a>`;
  }
  if (anyOf !== undefined) return alternatives(anyOf.map(typeText));
  if (type === undefined) return raw(properties === undefined ? "any value" : "object");
  const named = (each: string) => (each === "array" && items ? html`list of ${typeText(items)}` : html`${each}`);
  return alternatives([type].flat().map(named));
}

function alternatives(types: readonly Html[]): Html {
  const seen = new Map(types.map((type) => [type.text, type]));
  return joined([...seen.values()], " or ");
}

/** Returns the name of a member or a parameter, with its type and whether it is required. */
export function fieldTerm(name: Html, type: Html, required: boolean): Html {
  return html`${name} <span class="type">${type}</span>${required && html` <span class="required">required</span>`}`;
}

/**
 * Returns the members of an object as a list of terms: name, type and what the contract says of each.
 * @param prefix comes before the name in the id of each term. Without it the terms have no ids.
 */
export function memberList({ properties = {}, required = [] }: Schema, prefix?: string): Html {
  return fieldList(
    Object.entries(properties).map(([name, member]) => {
      const id = prefix && `${prefix}.${name}`;
      const inner = innerOf(member);
      return {
        id,
        term: fieldTerm(html`<code>${name}</code>`, typeText(member), required.includes(name)),
        text: html`${describe(member)}${inner && memberList(inner, id)}`,
      };
    }),
  );
}

/** Returns the object that a member holds, itself or in a list, if it has no name of its own. */
function innerOf({ oneOf = [], anyOf = oneOf, ...member }: Schema): Schema | undefined {
  return [member, member.items, ...anyOf].find((each) => each?.properties !== undefined);
}

/** Returns the description of a value, its bounds, its choices and its example. */
export function describe(given: Schema): Html {
  const { description, examples } = { ...resolved(given), ...given };
  const bounds = boundsOf(given);
  const choices = given.enum ?? given.items?.enum;
  const example = examples?.[0];
  return html`${description !== undefined && html`<p>${inline(sentence(description))}</p>`}
  ${bounds !== "" && html`<p class="bounds">${bounds}</p>`}
  ${choices !== undefined && html`<p class="bounds">One of ${joined(choices.map((value) => html`<code>${JSON.stringify(value)}</code>`))}.</p>`}
  ${example !== undefined && html`<p class="bounds">Example: <code>${textOf(example)}</code></p>`}`;
}

function boundsOf(schema: Schema): string {
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}.`;
    if (most !== undefined) return `At most ${most}${unit}.`;
    if (least === undefined || (least === 0 && unit !== "")) return "";
    return `At least ${least}${least === 1 ? unit.replace(/s$/, "") : unit}.`;
  };
  const parts = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength === 0 ? undefined : schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    range(undefined, schema.maxProperties, " members"),
    schema.default === undefined ? "" : `Default: ${JSON.stringify(schema.default)}.`,
  ];
  return parts.filter((part) => part !== "").join(" ");
}

/** Begins with a capital and ends with a full stop: some descriptions of the contract are fragments. */
export function sentence(text: string): string {
  const begun = /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?:)]$/.test(begun) ? begun : `${begun}.`;
}

/** Returns the example of a schema: its own, or one put together from its parts'. @throws if a part has none. */
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

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
