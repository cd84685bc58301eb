import type { Surface } from "../../../src/limiter/surfaces.ts";
import type { Limits } from "../../../src/limits/schema.ts";
import { sleep } from "./host.ts";
import { newIntegrator } from "./integrator.ts";
import type { Finding } from "./judge.ts";
import { limitsOf, type Run } from "./run.ts";

/** The share of its limits that a key uses: a good integrator stays below them. */
const USE = 0.8;

/**
 * Steady mixed traffic. Each key is an integrator that polls the feed, reads what it knows, creates and changes
 * candidates and fetches packs. It uses four fifths of what its limits allow in a window, spread over DURATION, or over
 * each window if that is shorter: an hour of traffic in a minute. The keys may belong to several accounts.
 */
export async function soak(run: Run): Promise<Finding[]> {
  const limits = await run.allLimits();
  const started = Date.now();
  const until = started + run.settings.durationMs;

  const lane = async (key: number, surface: Surface, act: ReturnType<typeof newIntegrator>): Promise<void> => {
    const everyMs = paceOf(run, limits, surface, key);
    // Keys and surfaces start at different moments, as independent clients do.
    await sleep(everyMs * (((key + 1) * 0.37 + surface.length * 0.23) % 1));
    while (Date.now() < until) {
      const due = Date.now() + everyMs;
      const { verdict, answer } = await act(surface);
      const refusedFor = verdict === "account" || verdict === "key" ? Number(answer.headers["retry-after"]) * 1000 : 0;
      await sleep(Math.min(until, Math.max(due, Date.now() + refusedFor)) - Date.now());
    }
  };
  await Promise.all(
    limits.flatMap((_, key) => {
      const act = newIntegrator(run, key);
      return run.settings.surfaces.map((surface) => lane(key, surface, act));
    }),
  );
  return [...withinLimits(run, limits), volume(run, Date.now() - started), ...slowness(run)];
}

/** Milliseconds between two requests of a key on a surface. */
function paceOf({ settings }: Run, all: readonly Limits[], surface: Surface, key: number): number {
  const own = all[key]!;
  const colleagues = all.filter(({ account_id }) => account_id === own.account_id).length;
  const limits = limitsOf(own, surface);
  const share = Math.max(1, USE * Math.min(limits.key.limit, limits.account.limit / colleagues));
  return Math.min(settings.durationMs, own.window_seconds * 1000) / share;
}

function withinLimits({ settings, tally }: Run, all: readonly Limits[]): Finding[] {
  const above = tally.windows.flatMap((window) =>
    settings.surfaces.flatMap((surface) => {
      const counts = tally.inWindow(window, surface, all.length);
      const check = (member: "account" | "key", holder: Limits): Finding[] => {
        const id = `${member}_id` as const;
        const { limit } = limitsOf(holder, surface)[member];
        const sum = counts.reduce((sum, { admitted }, key) => sum + (all[key]?.[id] === holder[id] ? admitted : 0), 0);
        const text = `window ${window + 1}, ${surface}: ${holder[id]} was admitted ${sum} times, above its limit of ${limit}`;
        return sum > limit ? [{ result: "not exact", text }] : [];
      };
      return all.flatMap((holder) => [...check("account", holder), ...check("key", holder)]);
    }),
  );
  return above.length > 0 ? above : [{ result: "holds", text: "no window admitted more than a limit" }];
}

/** A run that was mostly refused shows little: an integrator that stays below its limits is not refused. */
function volume({ settings: { keys, surfaces }, tally }: Run, tookMs: number): Finding {
  let [admitted, refused] = [0, 0];
  for (const counts of tally.windows.flatMap((window) =>
    surfaces.flatMap((surface) => tally.inWindow(window, surface, keys.length)),
  )) {
    admitted += counts.admitted;
    refused += counts.account + counts.key;
  }
  const failed = tally.faults.length;
  const text = `${tally.sent} requests in ${Math.round(tookMs / 1000)} s: ${admitted} admitted, ${refused} refused, ${failed} failed`;
  if (failed > 0) return { result: "failed", text };
  if (admitted > refused) return { result: "holds", text };
  return { result: "not proven", text: `${text}. The limits were used up: use other keys, or another window.` };
}

function slowness({ settings: { p99Ms }, tally }: Run): Finding[] {
  if (p99Ms === undefined) return [];
  const p99 = tally.percentile(0.99);
  return [{ result: p99 <= p99Ms ? "holds" : "failed", text: `p99 ${p99.toFixed(1)} ms, demanded ${p99Ms} ms` }];
}
