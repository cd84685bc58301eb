import pLimit from "p-limit";
import { textOf } from "../lib/contract.ts";
import { type Host, type HttpAnswer } from "../lib/host.ts";
import { newIntegrator } from "../lib/integrator.ts";
import { limitsOf, type Run } from "../lib/run.ts";
import type { Admin } from "./admin.ts";
import type { Capacity, Loaded } from "./config.ts";

/** Prefix of the names of all accounts of capacity tests. `--cleanup` finds them by it. */
export const ACCOUNT_NAME = "Capacity test ";
const KEYS_OF_AN_ACCOUNT = 2;
const AT_ONCE = 4;
/** Lists that a key keeps for the clean-up. */
const LISTS_KEPT = 5;

/** A client with a key, and the requests that are left to it in this window. */
interface Member {
  readonly act: ReturnType<typeof newIntegrator>;
  readonly left: Record<Loaded, number>;
}

/** The accounts of a run. It grows with the rate. */
export class Crew {
  readonly #run: Run;
  readonly #keys: string[];
  readonly #admin: Admin;
  readonly #name = `${ACCOUNT_NAME}${new Date().toISOString()}`;
  readonly #members: Member[] = [];
  #limits: Record<Loaded, number> | undefined;
  #turn = 0;
  accounts = 0;

  /** @param keys those of `run`. The crew adds its own. */
  constructor(run: Run, keys: string[], admin: Admin) {
    this.#run = run;
    this.#keys = keys;
    this.#admin = admin;
  }

  /** Creates accounts until their limits cover so many requests of each surface. Returns false if that takes more than `most`. */
  async growFor(needed: Record<Loaded, number>, { min_accounts, max_accounts }: Capacity): Promise<boolean> {
    if (this.#limits === undefined) await this.#hire(1);
    const surfaces = Object.keys(needed) as Loaded[];
    const left = (surface: Loaded) => this.#members.reduce((sum, member) => sum + member.left[surface], 0);
    const missing = surfaces.map((surface) => {
      const ofAccount = KEYS_OF_AN_ACCOUNT * (this.#limits?.[surface] ?? 1);
      return Math.ceil(Math.max(0, needed[surface] - left(surface)) / ofAccount);
    });
    const more = Math.max(min_accounts - this.accounts, ...missing);
    if (this.accounts + more > max_accounts) return false;
    await this.#hire(more);
    return true;
  }

  /** Sends a request with the next key that has one left on this surface. Undefined if no key has. */
  next(surface: Loaded): ReturnType<Member["act"]> | undefined {
    for (let tries = 0; tries < this.#members.length; tries++) {
      const member = this.#members[this.#turn++ % this.#members.length]!;
      if (member.left[surface] <= 0) continue;
      member.left[surface]--;
      return member.act(surface);
    }
    return undefined;
  }

  async #hire(count: number): Promise<void> {
    const atOnce = pLimit(AT_ONCE);
    await atOnce.map(Array.from({ length: count }), async () => {
      const { id } = await this.#admin<{ id: string }>("accounts", "create", "--name", this.#name);
      this.accounts++;
      for (let n = 0; n < KEYS_OF_AN_ACCOUNT; n++) {
        const made = await this.#admin<{ key: string }>("keys", "create", "--account", id, "--name", "load");
        const key = this.#keys.push(made.key) - 1;
        this.#limits ??= await this.#learn(key);
        // A request that needs a candidate creates it first: that is a key's first create.
        this.#members.push({ act: newIntegrator(this.#run, key), left: { ...this.#limits } });
      }
    });
  }

  /** Returns the requests that a key may send. Writes for deleting its candidates are held back. */
  async #learn(key: number): Promise<Record<Loaded, number>> {
    const limits = await this.#run.limits(key);
    const of = (surface: Loaded) => limitsOf(limits, surface).key.limit;
    const create = Math.floor(Math.min(of("create"), of("writes") / 2));
    const list = Math.max(0, of("list") - LISTS_KEPT);
    // A request that needs a candidate creates one if there is none. Requests overlap, so each key may create two.
    return { list, reads: of("reads"), writes: of("writes") - create, create: create - 2, pack: of("pack") };
  }
}

interface Listed<T> {
  data: T[];
}

/**
 * Deletes the candidates of all capacity tests, and suspends their accounts, which refuses their keys for good: an account
 * cannot be deleted. Returns how many accounts were cleaned, and how many candidates are left because a limit refused.
 */
export async function cleanUp(url: string, admin: Admin, host: Host): Promise<{ accounts: number; left: number }> {
  const { data } = await admin<Listed<{ id: string; name: string; status: string }>>("accounts", "list");
  const made = data.filter(({ name, status }) => name.startsWith(ACCOUNT_NAME) && status === "active");
  const left = await pLimit(AT_ONCE).map(made, async ({ id }) => {
    const keys = await admin<Listed<{ id: string; status: string }>>("keys", "list", "--account", id);
    const secrets = [];
    for (const { id: key, status } of keys.data)
      if (status === "active")
        secrets.push((await admin<{ key: string }>("keys", "rotate", key, "--grace-seconds", "0")).key);
    const candidates = await deleteAll(url, secrets, host);
    if (candidates === 0) await admin("accounts", "suspend", id);
    return candidates;
  });
  return { accounts: left.filter((count) => count === 0).length, left: left.reduce((sum, count) => sum + count, 0) };
}

/** Deletes every candidate of an account. Returns how many are left because none of the keys may delete more. */
async function deleteAll(url: string, keys: readonly string[], host: Host): Promise<number> {
  /** Sends a request with the first key that is not refused. */
  const send = async (method: string, path: string): Promise<HttpAnswer | undefined> => {
    for (const key of keys) {
      const headers = { Authorization: `Bearer ${key}` };
      const answer = await host.exchange({ method, url: url + path, headers, body: undefined, surface: "free" });
      if (answer.status !== 429 && answer.status < 500 && answer.status > 0) return answer;
    }
    return undefined;
  };
  let left = 0;
  for (let cursor: string | undefined; ;) {
    const page = await send("GET", `/candidates?limit=1000${cursor === undefined ? "" : `&cursor=${cursor}`}`);
    if (page === undefined) return left + 1; // at least one: nobody knows
    const { data, has_more } = JSON.parse(page.body) as { data: { id: string }[]; has_more: boolean };
    const deleted = await pLimit(AT_ONCE).map(data, async ({ id }) => send("DELETE", `/candidates/${id}`));
    left += deleted.filter((answer) => answer === undefined).length;
    if (!has_more) return left;
    cursor = encodeURIComponent(textOf(page.body, "cursor"));
  }
}
