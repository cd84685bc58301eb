import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import type { AccountLimits } from "../limits/account-limits.ts";
import { limitsTable } from "./table.ts";

const EVERY_MS = 1_000;
const UNKNOWN_WIDTH = 100;

/** The alternate screen, with the cursor hidden; and back to what was there before. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/**
 * Shows an account's limits until Ctrl-C: on a terminal redrawn in place, the last table left behind; elsewhere one table
 * after the other. A read that fails is shown and tried again; only the first must not.
 */
export async function watchLimits(
  read: () => Promise<AccountLimits>,
  output: Pick<WriteStream, "write"> & Partial<WriteStream>,
): Promise<void> {
  let limits = await read();
  const ending = new AbortController();
  const end = () => ending.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, end);
  const terminal = output.isTTY === true;
  const table = (fault = "") => [...tableFor(limits, output), ...(fault === "" ? [] : [fault, ""])];
  if (terminal) output.write(ENTER);
  try {
    for (let fault = ""; !ending.signal.aborted;) {
      output.write(terminal ? frame(table(fault), output.rows ?? Infinity) : `${table(fault).join("\n")}\n`);
      await pause(output, ending.signal);
      if (ending.signal.aborted) break;
      fault = "";
      await unlessEnded(read(), ending.signal).then(
        (now) => (limits = now ?? limits),
        (error: unknown) => (fault = `Not up to date: ${error instanceof Error ? error.message : String(error)}`),
      );
    }
  } finally {
    if (terminal) output.write(`${LEAVE}${table().join("\n")}\n`);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, end);
  }
}

function tableFor(limits: AccountLimits, { isTTY, columns }: Partial<WriteStream>): string[] {
  const colours = isTTY === true && !process.env.NO_COLOR;
  return limitsTable(limits, { width: columns ?? UNKNOWN_WIDTH, colours });
}

/** Draws over what is there, so that nothing flickers; what the window is too low for is left out, and said to be. */
function frame(lines: readonly string[], height: number): string {
  const shown =
    lines.length <= height - 1
      ? lines
      : [...lines.slice(0, height - 2), `… ${lines.length - height + 2} more lines: make the window larger`];
  return HOME + shown.map((line) => `${line}${CLEAR_LINE}\n`).join("") + CLEAR_BELOW;
}

/** Until it is time to look again: after a second, at once when the window's size changes, or never mind when it is to end. */
async function pause(output: Partial<WriteStream>, ending: AbortSignal): Promise<void> {
  const over = new AbortController();
  const signal = AbortSignal.any([ending, over.signal]);
  const resized = output.on === undefined ? [] : [once(output as WriteStream, "resize", { signal })];
  await Promise.race([setTimeout(EVERY_MS, undefined, { signal }), ...resized]).catch(() => undefined);
  over.abort();
  await Promise.allSettled(resized);
}

/** What the work gives, or undefined as soon as it is to end. */
async function unlessEnded<T>(work: Promise<T>, ending: AbortSignal): Promise<T | undefined> {
  const over = new AbortController();
  const ended = once(ending, "abort", { signal: over.signal }).then(
    () => undefined,
    () => undefined,
  );
  try {
    return await Promise.race([work, ended]);
  } finally {
    over.abort();
  }
}
