/** What this module reads of a place in Babel's syntax tree. */
interface Place {
  readonly node: Node;
  readonly parentPath?: Place | null;
}

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly value?: unknown;
  readonly callee?: Node;
  readonly key?: Node;
  readonly object?: Node;
  readonly property?: Node & { readonly id?: { readonly name: string } };
}

const LEVELS = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);

/**
 * Says why StrykerJS must not change a place: because no test should see it. That is the wording of log lines (what is in
 * their fields stays), of errors that no client ever gets, and of the help of metrics and commands; and the empty text that
 * TypeScript wants for an item taken from a list, as in `const [, name = ""] = …`.
 * @returns undefined for every other place.
 */
export function inLogsAndErrors(path: object): string | undefined {
  const place = path as Place;
  if (!/^(StringLiteral|TemplateLiteral)$/.test(place.node.type)) return undefined;
  const parent = place.parentPath?.node;
  if (parent?.type === "CallExpression" && isLog(parent.callee)) return "the text of a log line";
  if (parent?.type === "NewExpression" && /(Error|Exception)$/.test(parent.callee?.name ?? ""))
    return "the text of an error";
  if (parent?.type === "CallExpression" && parent.callee?.property?.name === "bounded")
    return "an operation's name in the log";
  if (parent?.type === "ObjectProperty" && parent.key?.name === "help") return "a help text";
  if (place.node.value === "" && parent?.type === "AssignmentPattern" && isInList(place))
    return "what the compiler asks for, where the code knows that there is a value";
  return undefined;
}

/** `log.info`, `options.log.debug`, `this.#log.warn`. */
function isLog(callee: Node | undefined): boolean {
  const { object, property } = callee ?? {};
  const of = object?.name ?? object?.property?.name ?? object?.property?.id?.name;
  return /^log$/i.test(of ?? "") && LEVELS.has(property?.name ?? "");
}

/** Whether the place is the default of an item that is taken from a list. */
function isInList(place: Place): boolean {
  return place.parentPath?.parentPath?.node.type === "ArrayPattern";
}
