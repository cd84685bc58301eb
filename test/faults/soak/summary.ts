import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Tally } from "../tally.ts";
import type { Books } from "./books.ts";
import { type Memory, typical } from "./memory.ts";
import type { Trouble } from "./mischief.ts";

export interface Soak {
  minutes: number;
  surfaces: readonly Surface[];
  tally: Tally;
  troubles: readonly Trouble[];
  books: Books;
  memory: readonly Memory[];
}

/** Fewer samples say nothing about growth. */
const FEW = 6;

/** What a soak came to, as Markdown. */
export function summaryOf({ minutes, surfaces, tally, troubles, books, memory }: Soak): string {
  const { offered, admitted, refused, unavailable, failures } = tally;
  const kinds = [...new Set(troubles.map(({ what }) => what))].toSorted();
  const lived = memory.filter(({ samples }) => samples.length >= FEW);
  return [
    `# ${minutes} minutes of load and faults`,
    "",
    `Written by \`npm run test:soak\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}.`,
    "",
    `- Surfaces: ${surfaces.join(", ")}.`,
    `- Requests: ${offered} offered (${Math.round(offered / (60 * minutes))} a second), ${admitted} answered 2xx, ${refused} refused, ${unavailable} answered 503, ${failures.length} broken off or else.`,
    `- Faults: ${troubles.length} (${kinds.map((kind) => `${kind} ${troubles.filter(({ what }) => what === kind).length}`).join(", ")}).`,
    `- Windows, each of one account and surface: ${books.audited} audited, ${books.admitted} admissions in them. ${books.undisturbed} were without a fault, and ${books.exact} of those were offered more than the limit: each admitted exactly the limit.`,
    `- Breaches: ${books.breaches.length === 0 ? "none" : books.breaches.join("; ")}.`,
    `- Over the limit in a window in which Redis was killed, by what its append-only file lacked: ${books.forgotten.length === 0 ? "none" : books.forgotten.join("; ")}.`,
    `- Answers that were none of these: ${otherAnswers(failures)}.`,
    "",
    "| process | lived, s | memory at its start, MB | most | second quarter | last quarter |",
    "| --- | ---: | ---: | ---: | ---: | ---: |",
    ...lived.map(memoryRow),
    "",
  ].join("\n");
}

function memoryRow(memory: Memory): string {
  const { name, samples } = memory;
  const [first, last] = [samples[0], samples.at(-1)];
  const lived = Math.round(((last?.at ?? 0) - (first?.at ?? 0)) / 1000);
  const most = Math.max(...samples.map(({ megabytes }) => megabytes));
  return `| ${name} | ${lived} | ${first?.megabytes} | ${most} | ${typical(memory, 0.25, 0.5)} | ${typical(memory, 0.75, 1)} |`;
}

/** Each kind of failure once, with how often it came. */
function otherAnswers(failures: readonly string[]): string {
  const kinds = new Map<string, number>();
  for (const failure of failures) {
    const kind = failure
      .replace(/cand_\w+/g, "…")
      .replace(/"request_id":"[^"]*"/, "")
      .slice(0, 120);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return kinds.size === 0 ? "none" : [...kinds].map(([kind, count]) => `${count} × ${kind}`).join("; ");
}
