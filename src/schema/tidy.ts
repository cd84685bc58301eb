import type { TSchema } from "typebox";
import { MAX_FAULTS } from "../problems.ts";
import { isObject } from "./merge-patch.ts";
import { phoneOf } from "./phone.ts";
import { withoutInvisible } from "./visible-text.ts";

/**
 * Normalises what is unambiguous (interface.md, Untidy values), in place, so that the schema then checks the value that will
 * be kept. What could be meant in two ways stays, and the schema refuses it.
 */
export type Tidy = (value: unknown) => unknown;

/** A TypeBox schema as this module reads it. */
interface Node {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly contentEncoding?: string;
  readonly maxLength?: number;
  readonly properties?: Record<string, Node>;
  readonly additionalProperties?: Node | boolean;
  readonly items?: Node;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly maxProperties?: number;
  readonly then?: Node;
  readonly else?: Node;
  /** Marks identifiers: invisible characters are left out of them, and numbers become text. */
  readonly "x-identifier"?: true;
  /** Marks the values of metadata: numbers and booleans become text there. */
  readonly "x-scalar"?: true;
  /** Marks what only null itself clears. */
  readonly "x-explicit"?: true;
}

/** A date-time at midnight, in UTC or without an offset, as many systems write a date. */
const MIDNIGHT = /^(\d{4}-\d{2}-\d{2})[Tt ]00:00(?::00(?:\.0+)?)?(?:[Zz]|[+-]00:00)?$/;

/** Returns a function that tidies values of this schema. Call it once for each schema, at the start. */
export const tidier: (schema: TSchema) => Tidy = ofNode;

function ofNode(node: Node): Tidy {
  if (node.then !== undefined && node.else !== undefined) {
    const [tidyText, tidyOther] = [ofNode(node.then), ofNode(node.else)]; // `if: { type: "string" }`
    return (value) => (typeof value === "string" ? tidyText(value) : tidyOther(value));
  }
  if (node.properties !== undefined) return ofObject(node.properties, node.additionalProperties === false);
  if (typeof node.additionalProperties === "object") return ofMap(node.additionalProperties, node.maxProperties);
  if (node.items !== undefined) return ofArray(node.items, maxItemsOf(node));
  if (node["x-scalar"]) return (value) => cut(scalar(value), node.maxLength);
  const isText = typesOf(node).includes("string") && node.enum === undefined && node.contentEncoding === undefined;
  return isText ? ofText(node) : (value) => value;
}

function ofObject(properties: Record<string, Node>, strict: boolean): Tidy {
  const tidies = Object.entries(properties).map(([name, node]) => [name, ofMember(node)] as const);
  return (value) => {
    if (!isObject(value)) return value;
    const few = strict ? withFewUnknown(value, properties) : value;
    for (const [name, tidy] of tidies) if (Object.hasOwn(few, name)) few[name] = tidy(few[name]);
    return few;
  };
}

/** Leaves out unknown members that no response would list. As in ofMap, the others are enough to refuse the object. */
function withFewUnknown(value: Record<string, unknown>, properties: Record<string, Node>): Record<string, unknown> {
  const names = Object.keys(value);
  if (names.length <= MAX_FAULTS) return value;
  let unknown = 0;
  const kept = names.filter((name) => Object.hasOwn(properties, name) || ++unknown <= MAX_FAULTS + 1);
  return Object.fromEntries(kept.map((name) => [name, value[name]]));
}

/** An empty string in an optional field of any type means that there is no value. Spreadsheets export it so. */
function ofMember(node: Node): Tidy {
  const tidy = ofNode(node);
  if (!typesOf(node).includes("null") || node["x-explicit"]) return tidy;
  return (value) => {
    const tidied = typeof value === "string" && value.trim() === "" ? "" : tidy(value);
    return tidied === "" ? null : tidied;
  };
}

function ofMap(member: Node, max = Infinity): Tidy {
  const tidy = ofNode(member);
  const nullIsAbsent = !typesOf(member).includes("null");
  return (value) => {
    if (!isObject(value)) return value;
    const members: [string, unknown][] = [];
    for (const name of Object.keys(value)) {
      if (value[name] === null && nullIsAbsent) continue;
      // One member too many is enough for the schema to refuse it. To check them all would take long.
      if (members.push([name, tidy(value[name])]) > max) break;
    }
    return Object.fromEntries(members);
  };
}

function ofArray(items: Node, max = Infinity): Tidy {
  const tidy = ofNode(items);
  return (value) => {
    if (!Array.isArray(value)) return value;
    // As in ofMap. Items of a list that is too long are not even tidied.
    return value.length > max ? value.slice(0, max + 1) : value.map(tidy);
  };
}

/** A list without repeats of a few words is never longer than there are words. */
function maxItemsOf({ maxItems, uniqueItems, items }: Node): number | undefined {
  return maxItems ?? (uniqueItems === true ? items?.enum?.length : undefined);
}

function typesOf({ type = [] }: Node): readonly string[] {
  return [type].flat();
}

function ofText({ format, maxLength, ...node }: Node): Tidy {
  const isIdentifier = format === "idn-email" || node["x-identifier"] === true;
  return (given) => {
    const value = node["x-identifier"] && typeof given === "number" ? scalar(given) : given;
    if (typeof value !== "string") return value;
    const text = (isIdentifier ? withoutInvisible(value) : value).trim();
    if (format === "phone") return phoneOf(text);
    return cut(format === "date" ? text.replace(MIDNIGHT, "$1") : text, maxLength);
  };
}

/**
 * Cuts a text that is too long, but leaves it too long, so that the schema still refuses it. Counting all characters of a
 * text of 1 MiB would hold the event loop for several milliseconds. `max` counts code points, and each has at most two of
 * the units that JavaScript counts.
 */
function cut(value: unknown, max = Infinity): unknown {
  return typeof value === "string" ? value.slice(0, 2 * max + 1) : value;
}

/**
 * Tidies a value of metadata, or a number as an identifier. A whole number beyond ±(2^53 - 1) stays a number.
 * The schema refuses it, because parsing has already lost some of its digits.
 */
function scalar(value: unknown): unknown {
  if (typeof value === "string") return value.trim();
  if (typeof value === "boolean") return String(value);
  return typeof value === "number" && isExact(value) ? String(value) : value;
}

/** Returns whether JSON keeps a number as it came: as a whole number up to ±(2^53 - 1), or as a finite fraction. */
export function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value);
}
