import { createInterface } from "node:readline/promises";
import { invalid } from "../problems.ts";
import type { CommandContext } from "./command.ts";
import type { Operations } from "./operations.ts";
import { plain } from "./table.ts";

/**
 * Asks whether to go on, if standard input and standard error are a terminal. Ctrl-C ends the process.
 * @param needsYes set if the command needs --yes where there is no terminal. Others go on.
 * @param word what to type to go on, in place of yes.
 * @throws {Error} unless the reply is yes. @throws problem `validation_failed` if --yes is needed, or ADMIN_ACTOR.
 */
export async function confirm(
  operations: Pick<Operations, "actor">,
  { stdin, stderr }: CommandContext,
  question: string,
  { yes = false, needsYes = false, word }: { yes?: boolean | undefined; needsYes?: boolean; word?: string },
): Promise<void> {
  operations.actor();
  if (yes) return;
  if (stdin.isTTY && stderr.isTTY) {
    stderr.write(`${plain(question)} ${word === undefined ? "[y/N]" : `Type ${word} to go on:`} `);
    const reply = (await firstMatch(stdin, /^.*/)).trim();
    if (word === undefined ? /^y(es)?$/i.test(reply) : reply === word) return;
    throw new Error("Nothing was changed.");
  }
  if (needsYes) throw invalid("/yes", "", "Nothing was changed: without a terminal, this command needs --yes.");
}

/** Reads the first key, or more than its stored prefix, from standard input. @throws {Error} if there is none. */
export async function readKey({ stdin, stderr }: CommandContext): Promise<string> {
  if (stdin.isTTY) stderr.write("Paste the key and press Enter: ");
  const key = await firstMatch(stdin, /cos_live_\w{4,}/);
  if (key === "") throw new Error("Standard input has no key. In a container, `exec -i` passes it on.");
  return key;
}

/** Returns what matches in the first line in which something does; "" if nothing does. */
async function firstMatch(input: NodeJS.ReadableStream, pattern: RegExp): Promise<string> {
  const lines = createInterface({ input });
  try {
    for await (const line of lines) {
      const [match] = pattern.exec(line) ?? [];
      if (match !== undefined) return match;
    }
    return "";
  } finally {
    lines.close(); // a terminal that is still read keeps the process alive
  }
}
