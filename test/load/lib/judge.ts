import type { Counts } from "./tally.ts";

/** What a scenario found out. `exact` and `holds` are good; everything else is not. */
export interface Finding {
  readonly result: "exact" | "holds" | "not exact" | "not proven" | "failed";
  readonly text: string;
}

export function isGood({ result }: Finding): boolean {
  return result === "exact" || result === "holds";
}

/** What one window still admits on one surface before the run: what remains for the account and for each key. */
export interface Supply {
  readonly account: number;
  readonly keys: readonly number[];
}

/**
 * Judges the counts of one surface in one window. Nobody else may have used the account. Without tolerance:
 *
 * - the account: admitted == min(remaining of the account, the sum over its keys of min(offered, remaining of the key));
 * - a key: admitted == min(offered, remaining of the key), if the account had room for all keys or the key's limit refused.
 *   If the account refused, the keys raced for its room. Only their sum is then certain.
 *
 * A request with an unknown verdict may have been charged, so both sides are ranges. A result outside of them is not
 * exact; one inside is not proven.
 */
export function judge(title: string, supply: Supply, counts: readonly Counts[]): Finding[] {
  const most = (extra: boolean): number =>
    sum(counts.map(({ offered, unknown }, key) => Math.min(offered + (extra ? unknown : 0), supply.keys[key] ?? 0)));
  const total = {
    offered: sum(counts.map(({ offered }) => offered)),
    admitted: sum(counts.map(({ admitted }) => admitted)),
    unknown: sum(counts.map(({ unknown }) => unknown)),
  };
  const [least, greatest] = [Math.min(supply.account, most(false)), Math.min(supply.account, most(true))];
  const accountBound = most(true) > supply.account;
  const findings = [compare(`${title}, account`, total, supply.account, least, greatest)];
  counts.forEach((own, key) => {
    const limit = supply.keys[key] ?? 0;
    const title_ = `${title}, key ${key + 1}`;
    const highest = Math.min(own.offered + own.unknown, limit);
    const certain = !accountBound || own.key > 0;
    const lowest = certain ? Math.min(own.offered, limit) : 0;
    if (certain || own.admitted > highest) findings.push(compare(title_, own, limit, lowest, highest));
  });
  return findings;
}

function compare(
  title: string,
  { offered, admitted, unknown }: Pick<Counts, "offered" | "admitted" | "unknown">,
  limit: number,
  least: number,
  greatest: number,
): Finding {
  const expected = least === greatest ? `${least}` : `${least} to ${greatest}`;
  const text = `${title}: ${admitted} admitted of ${offered} offered, room for ${limit}, expected ${expected}`;
  if (admitted > greatest || admitted + unknown < least) return { result: "not exact", text };
  if (unknown > 0) return { result: "not proven", text: `${text}; ${unknown} may or may not have counted` };
  return { result: "exact", text };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
