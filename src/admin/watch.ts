import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import type { WriteStream } from "node:tty";
import type { AccountLimits } from "../limits/account-limits.ts";
import { limitsTable } from "./table.ts";

const EVERY_MS = 1_000;
const UNKNOWN_WIDTH = 100;

/** ENTER switches to the alternate screen and hides the cursor; LEAVE restores both. */
const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

/**
 * Shows an account's limits until Ctrl-C. On a terminal it redraws the table in place and leaves the last one on the
 * screen; elsewhere it prints one table after the other. If a read fails, it shows the error and reads again after a
 * second. Only the first read must succeed.
 */
export async function watchLimits(
  read: () => Promise<AccountLimits>,
  output: Pick<WriteStream, "write"> & Partial<WriteStream>,
): Promise<void> {
  let limits = await read();
  const stopping = new AbortController();
  const stopped = once(stopping.signal, "abort");
  const stop = () => stopping.abort();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, stop);
  const terminal = output.isTTY === true;
  const colours = terminal && !process.env.NO_COLOR;
  const lines = () => limitsTable(limits, output.columns ?? UNKNOWN_WIDTH, colours);
  const table = (fault = "") => [...lines(), ...(fault === "" ? [] : [fault, ""])];
  if (terminal) output.write(ENTER);
  try {
    for (let fault = ""; !stopping.signal.aborted;) {
      output.write(terminal ? frame(table(fault), output.rows ?? Infinity) : `${table(fault).join("\n")}\n`);
      await setTimeout(EVERY_MS, undefined, stopping).catch(() => undefined);
      if (stopping.signal.aborted) break;
      fault = "";
      const reading = read().then((now) => (limits = now));
      await Promise.race([reading, stopped]).catch((error: unknown) => {
        fault = `Out of date: ${error instanceof Error ? error.message : String(error)}`;
      });
    }
  } finally {
    if (terminal) output.write(`${LEAVE}${table().join("\n")}\n`);
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.off(signal, stop);
  }
}

/** Returns the text that draws over the last frame, without flicker. Says how many lines do not fit. */
function frame(lines: readonly string[], height: number): string {
  const shown =
    lines.length <= height - 1
      ? lines
      : [...lines.slice(0, height - 2), `… ${lines.length - height + 2} more lines: make the window larger`];
  return HOME + shown.map((line) => `${line}${CLEAR_LINE}\n`).join("") + CLEAR_BELOW;
}
