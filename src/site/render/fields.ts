import { nameOf, resolved, type Schema } from "./contract.ts";
import { type Html, html, raw } from "../../schema/html.ts";
import { inline } from "./markdown.ts";
import { schemaPath } from "./names.ts";

export function typeText(schema: Schema): Html {
  if (schema.$ref !== undefined) {
    const name = nameOf(schema.$ref);
    return html`<a href="${schemaPath(name)}">${name}</a>`;
  }
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices !== undefined) return joined(choices.map(typeText));
  if (schema.type === undefined) return raw(schema.properties === undefined ? "any value" : "object");
  const types = typeof schema.type === "string" ? [schema.type] : schema.type;
  return joined(
    types.map((type) =>
      type === "array" && schema.items !== undefined ? html`list of ${typeText(schema.items)}` : html`${type}`,
    ),
  );
}

function joined(parts: readonly Html[]): Html {
  return raw([...new Set(parts.map(({ text }) => text))].join(" or "));
}

/**
 * Returns the members of an object as a list of terms: name, type and what the contract says of each.
 * @param prefix comes before the name in the id of each term. Without it the terms have no ids.
 */
export function fieldList(schema: Schema, prefix?: string): Html {
  const { properties = {}, required = [] } = schema;
  return html`<dl class="fields">
    ${Object.entries(properties).map(([name, member]) => fieldOf(name, member, required.includes(name), prefix))}
  </dl>`;
}

function fieldOf(name: string, member: Schema, required: boolean, prefix: string | undefined): Html {
  const id = prefix === undefined ? undefined : `${prefix}.${name}`;
  const inner = innerOf(member);
  return html`<div>
    <dt ${id !== undefined && html`id="${id}"`}>
      <code>${name}</code>
      <span class="type">${typeText(member)}</span>${required && html` <span class="required">required</span>`}
    </dt>
    <dd>${describe(member)}${inner !== undefined && fieldList(inner, id)}</dd>
  </div>`;
}

/** Returns the object that a member holds, itself or in a list, if it has no name of its own. */
function innerOf(member: Schema): Schema | undefined {
  if (member.properties !== undefined) return member;
  if (member.items?.properties !== undefined) return member.items;
  return (member.oneOf ?? member.anyOf)?.find(({ properties }) => properties !== undefined);
}

/** Returns the description of a value, its bounds, its choices and its example. */
export function describe(given: Schema): Html {
  const schema = { ...resolved(given), ...given };
  const example = schema.example ?? schema.examples?.[0];
  const bounds = boundsOf(given);
  const choices = given.enum ?? given.items?.enum;
  return html`${schema.description !== undefined && html`<p>${inline(sentence(schema.description))}</p>`}
  ${bounds !== "" && html`<p class="bounds">${bounds}</p>`}
  ${choices !== undefined && html`<p class="bounds">One of ${choices.map((value, index) => html`${index > 0 && ", "}<code>${JSON.stringify(value)}</code>`)}.</p>`}
  ${example !== undefined && html`<p class="bounds">Example: <code>${typeof example === "string" ? example : JSON.stringify(example)}</code></p>`}`;
}

function boundsOf(schema: Schema): string {
  const range = (least: number | undefined, most: number | undefined, unit: string) => {
    if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
    if (most !== undefined) return `At most ${most}${unit}`;
    return least === undefined || (least === 0 && unit !== "")
      ? ""
      : `At least ${least}${least === 1 ? unit.replace(/s$/, "") : unit}`;
  };
  const parts = [
    range(schema.minimum, schema.maximum, ""),
    range(schema.minLength === 0 ? undefined : schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    range(undefined, schema.maxProperties, " members"),
    schema.default === undefined ? "" : `Default: ${JSON.stringify(schema.default)}`,
  ];
  return parts
    .filter((part) => part !== "")
    .map((part) => `${part}.`)
    .join(" ");
}

/** Begins with a capital and ends with a full stop: some descriptions of the contract are fragments. */
export function sentence(text: string): string {
  const begun = /^[a-z]+[ ,:]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return /[.!?:)]$/.test(begun) ? begun : `${begun}.`;
}
