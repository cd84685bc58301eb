import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Tally } from "../tally.ts";
import type { Books } from "./books.ts";
import { type Memory, medianOf } from "./memory.ts";
import type { InjectedFault } from "./fault-injector.ts";

export interface Soak {
  minutes: number;
  /** Names and versions of Redis and MongoDB. */
  servers: string;
  surfaces: readonly Surface[];
  tally: Tally;
  injected: readonly InjectedFault[];
  books: Books;
  memory: readonly Memory[];
}

/** Processes with fewer samples are left out: they show nothing about growth. */
const MIN_SAMPLES = 6;

/** Returns the results of a soak as Markdown. */
export function summaryOf({ minutes, servers, surfaces, tally, injected, books, memory }: Soak): string {
  const { offered, admitted, refused, unavailable, failures } = tally;
  const kinds = [...new Set(injected.map(({ what }) => what))].toSorted();
  const lived = memory.filter(({ samples }) => samples.length >= MIN_SAMPLES);
  return [
    `# ${minutes} minutes of load and faults`,
    "",
    `Written by \`npm run test:soak\` on ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, ${servers}.`,
    "",
    `- Surfaces: ${surfaces.join(", ")}.`,
    `- Requests: ${offered} offered (${Math.round(offered / (60 * minutes))} a second), ${admitted} answered 2xx, ${refused} refused, ${unavailable} answered 503, ${failures.length} failed in another way.`,
    `- Faults: ${injected.length} (${kinds.map((kind) => `${kind} ${injected.filter(({ what }) => what === kind).length}`).join(", ")}).`,
    `- Windows, each of one account and surface: ${books.audited} audited, with ${books.admitted} admissions. ${books.undisturbed} had no fault. ${books.exact} of those received more requests than the limit and admitted exactly the limit.`,
    `- Breaches: ${books.breaches.length === 0 ? "none" : books.breaches.join("; ")}.`,
    `- Over the limit in windows in which Redis was killed and lost the end of its append-only file: ${books.forgotten.length === 0 ? "none" : books.forgotten.join("; ")}.`,
    `- Requests that failed in another way: ${failureKinds(failures)}.`,
    "",
    "| process | lifetime, s | memory at the start, MB | peak, MB | median of the second quarter, MB | median of the last quarter, MB |",
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
  return `| ${name} | ${lived} | ${first?.megabytes} | ${most} | ${medianOf(memory, 0.25, 0.5)} | ${medianOf(memory, 0.75, 1)} |`;
}

/** Lists each kind of failure once, with its count. */
function failureKinds(failures: readonly string[]): string {
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
