import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** What each file imports. Files of the project are paths from its root, packages their names. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads the imports of every module below a folder: static and dynamic ones, of values and of types. */
export function importsIn(folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.(ts|mjs)$/.test(name));
  return new Map(files.toSorted().map((name) => [join(folder, name), importsOf(join(folder, name))]));
}

function importsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const { module, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ),
    ...module.dynamicImports.flatMap(({ moduleRequest }) =>
      literalIn(text.slice(moduleRequest.start, moduleRequest.end)),
    ),
  ];
  return [...new Set(requests.map((request) => (request.startsWith(".") ? join(dirname(file), request) : request)))];
}

function literalIn(expression: string): string[] {
  return /^"[^"]*"$/.test(expression) ? [JSON.parse(expression) as string] : [];
}

/** The room of a file: its folder below src/, or the file itself if it lies in src/. */
export function roomOf(file: string): string {
  return file.split("/")[1] ?? file;
}

/** The same graph with rooms in the place of files. What a room imports from itself is left out. */
export function roomsOf(imports: Imports): Imports {
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const room = roomOf(file);
    const into = rooms.get(room) ?? new Set();
    rooms.set(room, into);
    for (const target of targets) if (imports.has(target) && roomOf(target) !== room) into.add(roomOf(target));
  }
  return new Map([...rooms].map(([room, into]) => [room, [...into]]));
}

/** A circle through each node that is on one, as a path: `["a", "b", "a"]`. Empty if there is none. */
export function circlesIn(graph: Imports): string[][] {
  const circles: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node);
    if (at !== -1) return void circles.push([...path.slice(at), node]);
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return circles;
}
