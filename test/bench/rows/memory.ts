import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { Bench } from "../bench.ts";
import { createCandidates } from "../pipeline.ts";
import type { Row, Section } from "../report.ts";
import { type Service, startService } from "../service.ts";
import { spreadOf } from "../stats.ts";

const LOAD_CONNECTIONS = 32;
const IDLE_CONNECTIONS = 10_000;
/** How often an idle connection sends a request. */
const AGAIN_SECONDS = 60;
/** Candidates that are read and changed. Their requests, with the list and the create, are an odd number: see `mixOf`. */
const CANDIDATES = 101;
/** Writes of one candidate that meet may be refused. More answers than this share say that the load is not what it should be. */
const REFUSED = 0.01;
/** Samples of each state. */
const SAMPLES = 120;
/** "Flat": the median of the last third is at most this much of that of the second third. The first third fills caches. */
const FLAT = 1.05;

/** Watches the memory of one process: at rest, at load, with idle connections. Takes `memoryMinutes` for each. */
export async function memoryRows(bench: Bench): Promise<Section> {
  const service = await startService(bench);
  const { pid } = service.child;
  const minutes = bench.options.memoryMinutes;
  const everyMs = (minutes * 60_000) / SAMPLES;
  const requests = await mixOf(service);
  const watch = async () => {
    const samples: number[] = [];
    for (let n = 0; n < SAMPLES; n++) {
      await wait(everyMs, undefined, { signal: bench.signal });
      samples.push(residentMb(pid));
    }
    return samples;
  };
  const watched = {
    "at rest": await watch(),
    "at load": await bench.generator.connected(service.port, LOAD_CONNECTIONS, async (load) => {
      const seconds = minutes * 60;
      const [samples, { statuses }] = await Promise.all([watch(), load({ requests, seconds })]);
      refuseErrors(statuses);
      return samples;
    }),
    [`with ${IDLE_CONNECTIONS} idle connections`]: await bench.generator.connected(
      service.port,
      IDLE_CONNECTIONS,
      async (load) => {
        // The service closes a connection that never sends anything, and one that sends nothing for 75 s.
        const unknown = [service.text("GET", "/nothing")];
        await load({ requests: unknown, seconds: 60, count: IDLE_CONNECTIONS });
        const run = { requests: unknown, seconds: minutes * 60, rate: IDLE_CONNECTIONS / AGAIN_SECONDS };
        const [samples] = await Promise.all([watch(), load(run)]);
        return samples;
      },
    ),
  };
  return {
    title: `Memory over ${minutes} minutes in each state`,
    tables: [],
    rows: Object.entries(watched).map(([state, samples]) => flatRow(`memory ${state}`, samples)),
  };
}

/**
 * Reads, changes, lists, creates and dry runs, so that all caches take part. Their number has no divisor in common with the
 * number of connections, so each connection sends all of them.
 */
async function mixOf(service: Service): Promise<string[]> {
  const ids = await createCandidates(service, CANDIDATES);
  const dryRun = service.text("POST", "/candidates?dry_run=true", {}, "{}");
  const each = ids.flatMap((id, n) => [
    service.text("GET", `/candidates/${id}`),
    dryRun,
    service.text("PATCH", `/candidates/${id}`, {}, JSON.stringify({ job_title: `Analyst ${n}` })),
    dryRun,
    service.text("PATCH", `/candidates/${id}`, {}, JSON.stringify({ job_title: `Engineer ${n}` })),
  ]);
  const create = service.text("POST", "/candidates", {}, JSON.stringify({ name: "Ada", email: "ada@example.com" }));
  return [...each, service.text("GET", "/candidates?limit=200"), create];
}

/** @throws if too many answers are refusals or errors. */
function refuseErrors(statuses: Readonly<Record<string, number>>): void {
  const count = Object.values(statuses).reduce((sum, of) => sum + of, 0);
  const errors = Object.entries(statuses).filter(([status]) => Number(status) >= 400);
  if (errors.reduce((sum, [, of]) => sum + of, 0) <= REFUSED * count) return;
  throw new Error(`The load was to be answered, but the answers were ${JSON.stringify(statuses)}.`);
}

function flatRow(what: string, samples: readonly number[]): Row {
  const third = Math.floor(samples.length / 3);
  const before = spreadOf(samples.slice(third, 2 * third)).median;
  const after = spreadOf(samples.slice(2 * third)).median;
  const growth = after / before;
  return {
    what,
    bound: `last third <= ${FLAT} x the third before`,
    measured: `${growth.toFixed(2)} (${before.toFixed(0)} MB, then ${after.toFixed(0)} MB)`,
    verdict: growth <= FLAT ? "met" : "not met",
  };
}

/** Returns the resident memory of a process, in megabytes. */
export function residentMb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1000;
}
