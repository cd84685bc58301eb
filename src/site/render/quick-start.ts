import { parse, type ParseEntry } from "shell-quote";

/** A request that a click sends. Texts may hold variables, written `${NAME}`: BASE, KEY, and those that blocks set. */
export interface Example {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Variables that get a value of the response: name, and the path of the member, such as `data.0.id`. */
  readonly captures: Readonly<Record<string, string>>;
  /** Variables that get the time in seconds before the request is sent: `TRY=$(date +%s)`. */
  readonly times: readonly string[];
}

const FLAGS_WITHOUT_VALUE = new Set(["-s", "-S", "-sS", "-i", "-sSi"]);

/**
 * Turns a shell block into the request that it sends. A block has one curl command. Before it, the block may set a variable
 * to the time. After it, the block may take values from the response with sed; the fence names them: `sh ID=id`.
 * @throws if the block is anything else, so that a page with an example that cannot run is not rendered.
 */
export function exampleOf(block: string, lang: string): Example {
  const [, ...given] = lang.split(/\s+/);
  const captures = Object.fromEntries(given.map((word) => word.split("=", 2) as [string, string]));
  const lines = block.replaceAll("\\\n", " ").trim().split("\n");
  const times = lines.flatMap((line) => /^(\w+)=\$\(date \+%s\)$/.exec(line)?.[1] ?? []);
  const commands = lines.filter((line) => line.startsWith("curl "));
  const captured = lines.flatMap((line) => /^(\w+)=\$\(sed -n .*\)$/.exec(line)?.[1] ?? []);
  if (commands.length !== 1 || lines.length !== times.length + captured.length + 1)
    throw new Error(`This block cannot be run by a click:\n${block}`);
  if (captured.join() !== Object.keys(captures).join())
    throw new Error(`The block sets ${captured.join()}, but "${lang}" says otherwise:\n${block}`);
  return { ...requestOf(commands[0] ?? ""), captures, times };
}

function requestOf(command: string): Omit<Example, "captures" | "times"> {
  const words = wordsOf(parse(command, (name) => `\${${name}}`)).slice(1);
  let [method, url, body]: (string | undefined)[] = [];
  const headers: Record<string, string> = {};
  while (words.length > 0) {
    const word = words.shift() ?? "";
    if (FLAGS_WITHOUT_VALUE.has(word)) continue;
    if (word === "-X") method = words.shift();
    else if (word === "-d") body = words.shift();
    else if (word === "-H") {
      const [, name = "", value = ""] = /^([^:]+):\s*(.*)$/.exec(words.shift() ?? "") ?? [];
      headers[name] = value;
    } else if (word.startsWith("-") || url !== undefined) throw new Error(`The click cannot send ${word}: ${command}`);
    else url = word;
  }
  if (url === undefined) throw new Error(`This command has no URL: ${command}`);
  const sent = body === undefined ? {} : { body };
  return { method: method ?? (body === undefined ? "GET" : "POST"), url, headers, ...sent };
}

/** Returns the arguments of the first command. Its output may be piped into `tee`, which keeps it for sed. */
function wordsOf(entries: readonly ParseEntry[]): string[] {
  const end = entries.findIndex((entry) => typeof entry === "object");
  const rest = end === -1 ? [] : entries.slice(end);
  const [pipe, program] = rest;
  if (rest.length > 0 && !(typeof pipe === "object" && "op" in pipe && pipe.op === "|" && program === "tee"))
    throw new Error(`The click knows only "| tee FILE": ${JSON.stringify(rest)}`);
  return (end === -1 ? entries : entries.slice(0, end)).map(String);
}
