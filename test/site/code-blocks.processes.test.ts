import { execFileSync } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type CodeBlock, codeBlocksOf } from "../support/code-blocks.ts";
import { type Ran, Shell } from "../support/shell.ts";
import { SHOWN_LANGUAGES, expectShown } from "../support/shown-output.ts";
import { useAccount, useService } from "../support/use-service.ts";

const GUIDES = "src/docs/guides";

/** How a program in another language is run by the page's shell, after it was written to a file of this ending. */
const PROGRAMS: Record<string, string> = { js: "node", python: "python3" };
const ENDINGS: Record<string, string> = { js: "mjs", python: "py" };

function hasPython(): boolean {
  try {
    execFileSync("python3", ["-c", "import httpx"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What a reader of the page does with BASE and KEY set: copies each block, in order, into one shell. */
describe("the code blocks of the guides", () => {
  const service = useService();
  const account = useAccount(service);
  let folder = "";
  let shell: Shell;
  /** The answers of the service since the last block. */
  let answers: ServerResponse[] = [];
  const noteAnswer = (message: unknown) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    if (request.socket.localPort === service.port) answers.push(response);
  };

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "onboarding-guide-"));
    shell = new Shell({ folder, env: { ...process.env, BASE: service.url, KEY: account.key } });
    subscribe("http.server.request.start", noteAnswer);
  });
  afterEach(async () => {
    unsubscribe("http.server.request.start", noteAnswer);
    await shell.close();
    rmSync(folder, { recursive: true });
  });

  /** Runs a block. Every block must succeed, and a problem may be answered only if the page shows it. */
  async function run(block: CodeBlock, shown: readonly CodeBlock[]): Promise<Ran> {
    answers = [];
    const ran = await shell.run(commandsOf(block));
    const what = `line ${block.line}:\n${block.text}\n${ran.output}`;
    expect(ran.code, `exit code of the block of ${what}`).to.equal(0);
    const refused = answers.map(({ statusCode }) => statusCode).filter((status) => status >= 400);
    if (!shown.some(showsProblem)) expect(refused, `refusals that the page does not show; ${what}`).to.deep.equal([]);
    return ran;
  }

  /** Returns what the shell runs for a block. */
  function commandsOf({ language, text, line }: CodeBlock): string {
    if (language === "sh") return text;
    const file = `line-${line}.${ENDINGS[language]}`;
    writeFileSync(join(folder, file), text);
    return `${PROGRAMS[language]} ${file}`;
  }

  for (const page of readdirSync(GUIDES).filter((name) => name.endsWith(".md"))) {
    it(`${page}: every block runs, and every answer shown is what the service answers`, async function () {
      const blocks = codeBlocksOf(readFileSync(join(GUIDES, page), "utf8"));
      /** What the last block printed. `null` if it was skipped. */
      let printed: string | null | undefined;
      let skipped = false;
      for (const [n, block] of blocks.entries()) {
        if (SHOWN_LANGUAGES.includes(block.language)) {
          expect(printed, `line ${block.line}: an answer must follow the commands that it answers`).not.to.equal(
            undefined,
          );
          if (typeof printed === "string") expectAnswer(block, printed);
          continue;
        }
        const known = block.language === "sh" || Object.hasOwn(PROGRAMS, block.language);
        expect(known, `line ${block.line}: the tests cannot run ${block.language}`).to.equal(true);
        const missing = block.language === "python" && !hasPython();
        printed = missing ? null : (await run(block, answersAfter(blocks, n))).output;
        skipped ||= missing;
      }
      if (skipped) this.skip(); // all other blocks have run
    });
  }
});

function expectAnswer(block: CodeBlock, printed: string): void {
  try {
    expectShown(block, printed);
  } catch (error) {
    throw new Error(`The answer of line ${block.line}: ${(error as Error).message}\nPrinted:\n${printed}`, {
      cause: error,
    });
  }
}

/** Returns the answers that are shown between a block and the next that is run. */
function answersAfter(blocks: readonly CodeBlock[], n: number): CodeBlock[] {
  const rest = blocks.slice(n + 1);
  const next = rest.findIndex(({ language }) => !SHOWN_LANGUAGES.includes(language));
  return next === -1 ? rest : rest.slice(0, next);
}

/** Whether an answer shows a status of 400 or above: its status line, a problem's `status`, or what -w '%{http_code}' prints. */
function showsProblem({ text }: CodeBlock): boolean {
  return /^HTTP\/1\.1 [45]|"status": [45]|^[45]\d\d\b/m.test(text);
}
