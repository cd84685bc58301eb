/** A fenced block of a Markdown page. */
export interface CodeBlock {
  /** The first word after the fence. Other words tell the rendered page how to run the block. */
  readonly language: string;
  readonly text: string;
  /** The line of its opening fence, from 1. */
  readonly line: number;
}

/**
 * Returns the fenced blocks of a page in order.
 * @throws if a fence is indented, is not three backticks and a language, or is not closed: a block must
 * not escape the tests.
 */
export function codeBlocksOf(markdown: string): CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [index, line] of markdown.split("\n").entries()) {
    const fence = /^\s*(?:```|~~~)/.test(line);
    if (!fence) {
      open?.lines.push(line);
    } else if (open === undefined) {
      const language = /^```(\w+)( |$)/.exec(line)?.[1];
      if (language === undefined) throw new Error(`Line ${index + 1}: a fence must be three backticks and a language.`);
      open = { language, line: index + 1, lines: [] };
    } else {
      if (line !== "```") throw new Error(`Line ${index + 1}: a fence must be closed by three backticks.`);
      blocks.push({ language: open.language, line: open.line, text: open.lines.join("\n") });
      open = undefined;
    }
  }
  if (open !== undefined) throw new Error(`Line ${open.line}: the fence is not closed.`);
  return blocks;
}
