import { setTimeout } from "node:timers/promises";
import pLimit from "p-limit";
import { newTypeId } from "../infra/ids.ts";
import { witnessed } from "../limiter/witness.ts";
import { PROBE, probesIn } from "../limits/exactness.ts";
import type { Limits, SurfaceLimits } from "../limits/schema.ts";
import type { Operations } from "./operations.ts";

/** A request on each surface that is probed. It changes nothing: there is no such candidate, and a 404 is charged too. */
const REQUESTS: Partial<Record<SurfaceLimits["surface"], readonly [method: string, path: string]>> = {
  start: ["POST", `/candidates/${newTypeId("cand")}/start`],
  pack: ["GET", `/candidates/${newTypeId("cand")}/pack`],
  settings: ["PATCH", "/settings/assistant"],
};
/** Number of requests at once: enough for every replica to take part. */
const AT_ONCE = 16;
const MAX_REQUESTS = 2_000;
const RESPONSE_MS = 10_000;

/**
 * Offers a little more than two keys of the probe's own account may use, and records whether exactly the limits were admitted.
 * @param settleSeconds time that Redis must have been the same before: the old master of a failover may take charges, and lose
 * them.
 * @returns `exact`: null if anything but the limiter may have disturbed the run; `reasons`: what, or what was not exact.
 * @throws if MongoDB or Redis cannot be reached. The last result then stays until it is too old to be exported.
 */
export async function probeLimits(operations: Operations, url: string, settleSeconds: number) {
  const [mongo, redis, accounts] = await Promise.all([operations.mongo(), operations.redis(), operations.accounts()]);
  await operations.setClock();
  const probes = probesIn(mongo);
  const known = (await probes.findOne(PROBE))?.account;
  const account = known ?? (await accounts.createAccount({ name: "Exactness probe" })).id;
  const offered = witnessed(redis, account, async () => {
    const keys = await keysOf(operations, account);
    await setTimeout(settleSeconds * 1000);
    return offer(url, keys);
  });
  const { exact, reasons } = await offered.then(
    (faults) => ({ exact: faults.length === 0, reasons: faults }),
    ({ message }: Error) => ({ exact: null, reasons: [message] }),
  );
  const found = { account, exact: exact === null ? null : Number(exact), checked_at: operations.clock.now() };
  await probes.updateOne(PROBE, { $set: found }, { upsert: true });
  return { object: "limits_probe", exact, reasons };
}

/** Returns new secrets of two active keys, which nothing has to keep. Not audited: it would be most of what the audit has. */
async function keysOf(operations: Operations, accountId: string): Promise<string[]> {
  const accounts = await operations.accounts();
  const unaudited = await operations.accounts({ around: (_, change) => change() });
  const active = (await accounts.listKeys(accountId)).data.filter(({ status }) => status === "active");
  const secrets: string[] = [];
  for (let n = 0; n < 2; n++) {
    const { id: keyId } = active[n] ?? (await accounts.createKey({ accountId, name: "probe" }));
    secrets.push((await unaudited.rotateKey({ keyId, graceSeconds: 0 })).key);
  }
  return secrets;
}

/** Offers one request more than each key may send on each surface, all at once, then one more. Returns what was not exact. */
async function offer(url: string, keys: readonly string[]): Promise<string[]> {
  const before = await Promise.all(keys.map((key) => limitsOf(url, key)));
  const surfaces = before[0]!.surfaces.filter(({ surface }) => surface in REQUESTS);
  if (surfaces.some(({ account }) => account.used > 0)) throw new Error("The account was used in this window already.");
  const offers = surfaces.flatMap((limits) =>
    Array.from({ length: limits.key.limit + 1 }, () => keys.map((key) => ({ key, limits }))).flat(),
  );
  if (offers.length > MAX_REQUESTS) throw new Error(`LIMIT_SCALE is too high: ${offers.length} requests.`);
  const sent = await pLimit(AT_ONCE).map(offers, async (one) => ({ ...one, verdict: await verdictOf(url, one) }));
  const reasons = [];
  for (const limits of surfaces) {
    const { surface } = limits;
    for (const [n, key] of keys.entries()) {
      const admitted = sent.filter(
        (one) => one.key === key && one.limits === limits && one.verdict === "admitted",
      ).length;
      if (admitted !== limits.key.limit)
        reasons.push(`${surface}: key ${n + 1} was admitted ${admitted} times. Its limit is ${limits.key.limit}.`);
    }
    const last = await verdictOf(url, { key: keys[0]!, limits });
    if (last !== "account") reasons.push(`${surface}: the account is used up, and did not refuse: ${last}.`);
  }
  const after = await Promise.all(keys.map((key) => limitsOf(url, key)));
  if (new Set([...before, ...after].map(({ window }) => window)).size > 1)
    throw new Error("The window ended, or a clock has stepped.");
  return reasons;
}

async function limitsOf(url: string, key: string): Promise<Limits & { window: number }> {
  const { status, body } = await send(url, key, "GET", "/limits");
  if (status !== 200) throw new Error(`GET /limits: ${status} ${body}`);
  const limits = JSON.parse(body) as Limits;
  if (limits.grants.length > 0) throw new Error("A key of the account has a grant.");
  const window = Math.round(Date.parse(limits.surfaces[0]?.reset_at ?? "") / 1000 / limits.window_seconds);
  return { ...limits, window };
}

/** Returns "admitted", or whose limit refused. @throws unless the limiter decided, by the limits that GET /limits shows. */
async function verdictOf(url: string, { key, limits }: { key: string; limits: SurfaceLimits }): Promise<string> {
  const [method, path] = REQUESTS[limits.surface]!;
  const { status, body, policy } = await send(url, key, method, path);
  const [, account, ofKey] = /^"account-.*?q=(\d+);.*"key-.*?q=(\d+);/.exec(policy) ?? [];
  if (status >= 500 || Number(account) !== limits.account.limit || Number(ofKey) !== limits.key.limit)
    throw new Error(`${method} ${path}: ${status} ${policy} ${body}`);
  return status === 429 ? (JSON.parse(body) as { scope: string }).scope : "admitted";
}

async function send(url: string, key: string, method: string, path: string) {
  const headers = { Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
  const body = method === "PATCH" ? "{}" : null;
  const signal = AbortSignal.timeout(RESPONSE_MS);
  const response = await fetch(url + path, { method, headers, body, redirect: "manual", signal });
  const policy = response.headers.get("ratelimit-policy") ?? "";
  return { status: response.status, body: await response.text(), policy };
}
