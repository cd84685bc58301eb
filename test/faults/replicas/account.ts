import { setTimeout } from "node:timers/promises";
import type { Candidate } from "../../../src/candidates/schema.ts";
import type { LoadClient } from "../../support/load.ts";
import type { Operators } from "../../support/operators.ts";
import type { Tally } from "../tally.ts";
import { everyCandidate } from "./feed.ts";
import { Lanes } from "./lanes.ts";

/** An account under a load of creates. It remembers every acknowledged candidate. */
export class BusyAccount {
  readonly id: string;
  readonly keys: readonly { id: string; key: string }[];
  /** Candidates whose create was answered 201, by id. */
  readonly acknowledged = new Map<string, Candidate>();
  readonly #lanes: Lanes[] = [];

  private constructor(id: string, keys: readonly { id: string; key: string }[]) {
    this.id = id;
    this.keys = keys;
  }

  static async make({ accounts }: Operators, keyCount: number): Promise<BusyAccount> {
    const { id } = await accounts.createAccount({ name: "Test" });
    const keys = [];
    for (let n = 0; n < keyCount; n++) keys.push(await accounts.createKey({ accountId: id, name: `key ${n}` }));
    return new BusyAccount(id, keys);
  }

  get key(): string {
    return this.keys[0]?.key ?? "";
  }

  /**
   * Sends creates in `count` lanes, with the keys in turn, until the lanes are ended.
   * @param restMs milliseconds that a lane rests after each response, on average: the first half as long, the last one and a half
   * times. So the lanes do not stay in step after a response to all of them came late.
   */
  creates(load: LoadClient, tally: Tally, count: number, restMs = 0): Lanes {
    const lanes = new Lanes(count, async (lane, turn) => {
      const key = this.keys[(lane + turn) % this.keys.length]?.key ?? "";
      const body = JSON.stringify({ name: `${lane}-${turn}`, documents: ["CV"], references: [{ name: "Ann" }] });
      const { response } = await tally.send(load, { method: "POST", path: "/candidates", key, body });
      if (restMs > 0) await setTimeout(restMs * (0.5 + lane / count));
      if (response?.status !== 201) return;
      const candidate = JSON.parse(response.body) as Candidate;
      this.acknowledged.set(candidate.id, candidate);
    });
    this.#lanes.push(lanes);
    return lanes;
  }

  /** Ends the lanes that still run, in case the test failed before ending them. */
  async stop(): Promise<void> {
    await Promise.all(this.#lanes.map((each) => each.end()));
  }

  /** Returns the number of acknowledged candidates that are missing, or differ from the acknowledged response. */
  async lost(load: LoadClient): Promise<number> {
    const stored = await everyCandidate(load, this.key);
    return [...this.acknowledged].filter(
      ([id, candidate]) => JSON.stringify(stored.get(id)) !== JSON.stringify(candidate),
    ).length;
  }

  /** Returns the number of creates counted in the account's window. */
  async charged({ usage }: Operators): Promise<number> {
    const { surfaces } = await usage({ accountId: this.id, keyId: this.keys[0]?.id ?? "" });
    return surfaces.find(({ surface }) => surface === "create")?.account.used ?? 0;
  }
}
