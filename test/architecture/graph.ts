import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseSync } from "oxc-parser";

/** What each file imports. A file of the project is its path from the root; a package is its name. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads the static and dynamic imports of every module below a folder, including type imports. */
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

/** Returns the room of a file: its folder below src/, or the file itself if it is directly in src/. */
export function roomOf(file: string): string {
  return file.split("/")[1] ?? file;
}

/** Returns the same graph with rooms instead of files, without the imports inside a room. */
export function roomsOf(imports: Imports): Imports {
  const rooms = new Map<string, Set<string>>();
  for (const [file, targets] of imports) {
    const room = roomOf(file);
    const imported = rooms.get(room) ?? new Set();
    rooms.set(room, imported);
    for (const target of targets) if (imports.has(target) && roomOf(target) !== room) imported.add(roomOf(target));
  }
  return new Map([...rooms].map(([room, imported]) => [room, [...imported]]));
}

/** Finds import cycles. @returns each as a path that ends where it starts: `["a", "b", "a"]`. Empty if there is none. */
export function cyclesIn(graph: Imports): string[][] {
  const cycles: string[][] = [];
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): void => {
    const at = path.indexOf(node);
    if (at !== -1) return void cycles.push([...path.slice(at), node]);
    if (done.has(node)) return;
    for (const next of graph.get(node) ?? []) visit(next, [...path, node]);
    done.add(node);
  };
  for (const node of graph.keys()) visit(node, []);
  return cycles;
}
