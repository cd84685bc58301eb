import { Integrator } from "./integrator.ts";
import type { Finding } from "./judge.ts";
import type { Limits, Run } from "./run.ts";

/** The share of its limits that a key uses: a good integrator stays below them. */
const USE = 0.8;

/**
 * Steady mixed traffic. Each key is an integrator that polls the feed, reads what it knows, creates and changes
 * candidates and fetches packs. It uses four fifths of what its limits allow in a window, spread over DURATION, or over
 * each window if that is shorter: an hour of traffic in a minute. The keys may belong to several accounts.
 */
export async function soak(run: Run): Promise<Finding[]> {
  const limits: Limits[] = [];
  for (const key of run.settings.keys.keys()) limits.push(await run.limits(key));
  const started = Date.now();
  const until = started + run.settings.durationMs;
  const times: number[] = [];

  const lane = async (key: number, surface: string, integrator: Integrator, everyMs: number): Promise<void> => {
    run.planned += run.settings.durationMs / everyMs;
    // Keys and surfaces start at different moments, as independent clients do.
    await run.host.sleep(everyMs * (((key + 1) * 0.37 + surface.length * 0.23) % 1));
    while (!run.over && Date.now() < until) {
      const due = Date.now() + everyMs;
      const { verdict, answer } = await integrator.act(surface);
      times.push(answer.ms);
      const refusedFor = verdict === "account" || verdict === "key" ? Number(answer.headers["retry-after"]) * 1000 : 0;
      await run.host.sleep(Math.min(until, Math.max(due, Date.now() + refusedFor)) - Date.now());
    }
  };
  await Promise.all(
    limits.flatMap((own, key) => {
      const integrator = new Integrator(run, key, `load-${started}-${key}`);
      const colleagues = limits.filter(({ accountId }) => accountId === own.accountId).length;
      return run.settings.surfaces.map((surface) =>
        lane(key, surface, integrator, paceOf(run, own, surface, colleagues)),
      );
    }),
  );
  return [...withinLimits(run, limits), volume(run, times, Date.now() - started), ...slowness(run, times)];
}

/** Milliseconds between two requests of a key on a surface. */
function paceOf({ settings }: Run, { windowSeconds, surfaces }: Limits, surface: string, colleagues: number): number {
  const { key, account } = surfaces[surface]!;
  const share = Math.max(1, USE * Math.min(key.limit, account.limit / colleagues));
  return Math.min(settings.durationMs, windowSeconds * 1000) / share;
}

function withinLimits(run: Run, limits: readonly Limits[]): Finding[] {
  const above: Finding[] = [];
  for (const window of run.tally.windows) {
    for (const surface of run.settings.surfaces) {
      const admitted = new Map<string, number>();
      const add = (name: string, count: number, limit: number): void => {
        const sum = (admitted.get(name) ?? 0) + count;
        admitted.set(name, sum);
        if (sum > limit)
          above.push({
            result: "not exact",
            text: `window ${window + 1}, ${surface}: ${name} was admitted ${sum} times, above its limit of ${limit}`,
          });
      };
      limits.forEach(({ accountId, keyId, surfaces }, key) => {
        const count = run.tally.of(window, surface, key).admitted;
        add(keyId, count, surfaces[surface]!.key.limit);
        add(accountId, count, surfaces[surface]!.account.limit);
      });
    }
  }
  return above.length > 0 ? above : [{ result: "holds", text: "no window admitted more than a limit" }];
}

/** A run that was mostly refused shows little: an integrator that stays below its limits is not refused. */
function volume(run: Run, times: readonly number[], tookMs: number): Finding {
  let [admitted, refused] = [0, 0];
  for (const window of run.tally.windows) {
    for (const surface of run.settings.surfaces) {
      for (const counts of run.tally.inWindow(window, surface, run.settings.keys.length)) {
        admitted += counts.admitted;
        refused += counts.account + counts.key;
      }
    }
  }
  const { failed } = run.tally;
  const text = `${times.length} requests in ${Math.round(tookMs / 1000)} s: ${admitted} admitted, ${refused} refused, ${failed} failed`;
  if (failed > 0) return { result: "failed", text };
  if (admitted > refused) return { result: "holds", text };
  return { result: "not proven", text: `${text}. The limits were used up: use other keys, or another window.` };
}

function slowness({ settings: { p99Ms } }: Run, times: readonly number[]): Finding[] {
  if (p99Ms === undefined) return [];
  const p99 = times.toSorted((a, b) => a - b)[Math.ceil(times.length * 0.99) - 1] ?? Infinity;
  return [{ result: p99 <= p99Ms ? "holds" : "failed", text: `p99 ${p99.toFixed(1)} ms, demanded ${p99Ms} ms` }];
}
