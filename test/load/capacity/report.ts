import type { Capacity } from "./config.ts";
import type { Step } from "./ramp.ts";

/** Width of the bar of a p99 at its bound, in characters. */
const BAR = 40;
const COLUMNS = ["rate", "sent", "failed", "refused", "p50 ms", "p99 ms", "late ms", "busy %"];

/** Returns the steps as a table and a bar chart in plain text, for example for a ticket. */
export function reportOf(steps: readonly Step[], { p99_ms }: Capacity): string[] {
  const rows = steps.map(({ rate, sent, failed, refused, p50, p99, late, busy }) =>
    [rate, sent, failed, refused, p50, p99, late, busy * 100].map((value, n) =>
      value.toFixed(n === 0 || n > 3 ? 1 : 0),
    ),
  );
  const table = [COLUMNS, ...rows].map((cells) => cells.map((cell) => cell.padStart(9)).join(""));
  const picture = steps.map(({ rate, p99 }) => {
    const length = Math.max(1, Math.round((p99 / p99_ms) * BAR));
    const bar = length > BAR ? `${"█".repeat(BAR)}▶` : "█".repeat(length);
    return `${rate.toFixed(1).padStart(9)} ${bar.padEnd(BAR + 1)} ${p99.toFixed(0)} ms`;
  });
  const head = `${"rate".padStart(9)} ${"p99".padEnd(BAR - 1)}| ${p99_ms} ms`;
  return [...table, "", head, ...picture, ""];
}
