import type { Run } from "../lib/run.ts";
import type { Figures } from "./figures.ts";

const REDRAW_MS = 250;
const PLAIN_MS = 5_000;
const BAR = 40;
const UP = (lines: number): string => `\u001b[${lines}A`;
const CLEAR_BELOW = "\u001b[J";

interface Output {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/**
 * Shows a run while it goes on: on a terminal a progress bar and the table by surface, redrawn in place; elsewhere a line
 * now and then, for logs.
 */
export class Screen {
  readonly #output: Output;
  readonly #figures: Figures;
  #drawn = 0;
  #timer: NodeJS.Timeout | undefined;
  #run: Run | undefined;

  constructor(output: Output, figures: Figures) {
    this.#output = output;
    this.#figures = figures;
  }

  start(run: Run): void {
    this.#run = run;
    this.#timer =
      this.#output.isTTY === true
        ? setInterval(() => this.#draw(), REDRAW_MS)
        : setInterval(() => this.say(progressOf(run)), PLAIN_MS);
  }

  /** Prints a line that stays, above what is redrawn. */
  say(line: string): void {
    this.#erase();
    this.#output.write(`${line}\n`);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #draw(): void {
    if (this.#run === undefined) return;
    const share = this.#run.planned === 0 ? 0 : Math.min(1, this.#run.sent / this.#run.planned);
    const filled = Math.round(share * BAR);
    const bar = `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${progressOf(this.#run)}`;
    const text = `${this.#figures.bySurface()}\n${bar}\n`;
    this.#erase();
    this.#output.write(text);
    this.#drawn = text.split("\n").length - 1;
  }

  #erase(): void {
    if (this.#drawn > 0) this.#output.write(UP(this.#drawn) + CLEAR_BELOW);
    this.#drawn = 0;
  }
}

function progressOf({ sent, planned, tally }: Run): string {
  return `${sent} of about ${Math.round(Math.max(sent, planned))} requests, ${tally.failed} failed`;
}
