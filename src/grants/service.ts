import { setTimeout } from "node:timers/promises";
import { findKey } from "../accounts/account.ts";
import { announceAccount, type Versions } from "../accounts/announce.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { ListView } from "../accounts/view.ts";
import { MAX_HOURS } from "../audit/approval.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import type { GrantCounters } from "../limiter/grant-counters.ts";
import { invalid, Problem, problem } from "../problems.ts";
import type { GrantRecord, GrantStore } from "./store.ts";
import { checkedTerms, type GrantRequest, type GrantTerms, refuseOtherTerms } from "./terms.ts";
import { type GrantView, viewGrant } from "./view.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "accountOfKey" | "change" | "get">;
  readonly versions: Versions;
  readonly store: GrantStore;
  readonly counters: GrantCounters;
  readonly audit: AuditTrail;
  /** Must follow Redis's clock, which decides when a grant expires. */
  readonly clock: Clock;
  readonly newId: NewId;
  /**
   * Time between placing a grant empty and filling it, in milliseconds: longer than a replica repeats a refusal by itself
   * (limiter/refusal-cache.ts). Once the grant is placed, no new refusal of its key is repeated.
   */
  readonly issueWaitMs: number;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * Manages grants. MongoDB holds the record of a grant; Redis holds how much of it remains, and charges draw on that. Every
 * method may throw problem `store_unavailable` or `limiter_unavailable`. Repeat the call then: it continues where it stopped.
 */
export class GrantService {
  readonly #options: Dependencies;

  constructor(options: Dependencies) {
    this.#options = options;
  }

  /**
   * Issues a grant. Repeating the same id and terms issues it only once, even if Redis has lost it.
   * @throws problem `not_found` for an unknown key; `invalid_transition` for a revoked key, or a grant that Redis lost;
   * `validation_failed` for invalid terms, or an id that is taken by a grant with other terms.
   */
  async create(request: GrantRequest): Promise<GrantView> {
    const { terms, existing } = await this.#checked(request);
    // The same id was used for several surfaces, this one among them.
    if (request.id !== undefined) await this.#refuseTaken(`${request.id}-${request.surface}`);
    const record = existing ?? (await this.#draft(request.id ?? this.#options.newId("grant"), terms));
    if (record.step === "issued" || record.revoked_at !== null) {
      const view = await this.#view(record);
      if (view.status === "lost") throw lost(view.id);
      return view;
    }
    const { _id: subject, account: accountId } = record;
    const { key, ...details } = terms;
    const change = { action: "grants create", accountId, subject, details: { key_id: key, ...details } };
    return this.#view(await this.#options.audit.around(change, () => this.#issue(record, terms)));
  }

  /**
   * Issues a grant for each surface with the ids `ID-SURFACE`, as `create` does. Looks for a fault in any of them before it
   * issues the first.
   */
  async createForSurfaces(request: GrantRequest, surfaces: readonly string[]): Promise<ListView<GrantView>> {
    const base = request.id ?? this.#options.newId("grant");
    const requests = surfaces.map((surface) => ({ ...request, surface, id: `${base}-${surface}` }));
    for (const each of requests) await this.#checked(each);
    await this.#refuseTaken(base);
    const data: GrantView[] = [];
    try {
      for (const each of requests) data.push(await this.create(each));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const advice = `Repeat the command with the id ${base}: what is issued already is not issued again.`;
      throw problem(error.code, `${error.message} ${advice}`);
    }
    return { object: "list", data };
  }

  /** Returns the terms, and the grant that already has the id. @throws problem `validation_failed` if its terms differ. */
  async #checked(request: GrantRequest): Promise<{ terms: GrantTerms; existing: GrantRecord | null }> {
    const terms = checkedTerms(request);
    const existing = request.id === undefined ? null : await this.#options.store.find(request.id);
    if (existing !== null) refuseOtherTerms(existing, terms);
    return { terms, existing };
  }

  /** @throws problem `validation_failed` if a grant has this id. */
  async #refuseTaken(id: string): Promise<void> {
    const taken = await this.#options.store.find(id);
    if (taken !== null) throw invalid("/id", `is taken: the grant ${id} is for ${taken.surface}. Choose another id`);
  }

  /** Returns the grants of an account, oldest first. @throws problem `not_found` */
  async list(accountId: string): Promise<ListView<GrantView>> {
    await this.#options.accounts.get(accountId);
    return { object: "list", data: await this.#views(await this.#options.store.list(accountId)) };
  }

  /**
   * Returns the grants of all accounts that expire within these hours, the next one first; at most 1,000.
   * @throws problem `validation_failed`
   */
  async expiring(hours: number): Promise<ListView<GrantView>> {
    if (!(hours > 0 && hours <= MAX_HOURS))
      throw invalid("/hours", `must be a number above 0 and at most ${MAX_HOURS}`);
    const until = timestamp(this.#options.clock.now() + Math.round(hours * HOUR_MS));
    return { object: "list", data: await this.#views(await this.#options.store.expiring(this.#now(), until)) };
  }

  /** Revokes a grant. From the next charge on, nothing is drawn from it. Idempotent. @throws problem `not_found` */
  async revoke(id: string): Promise<GrantView> {
    const { account: accountId, key, surface } = await this.#options.store.get(id);
    const change = { action: "grants revoke", accountId, subject: id, details: { key_id: key } };
    const record = await this.#options.audit.around(change, async () => {
      const revoked = await this.#options.store.revoke(id, this.#now());
      await this.#options.counters.remove({ accountId, keyId: key, surface, grantId: id });
      return revoked;
    });
    return this.#view(record);
  }

  async #draft(id: string, terms: GrantTerms): Promise<GrantRecord> {
    const account = await this.#options.accounts.accountOfKey(terms.key);
    if (findKey(await this.#options.accounts.get(account), terms.key).revoked_at !== null) {
      throw problem("invalid_transition", `The key ${terms.key} is revoked. Give the grant to an active key.`);
    }
    const now = this.#options.clock.now();
    const expires_at = timestamp(now + Math.round(terms.expires_in_hours * HOUR_MS));
    return { _id: id, account, ...terms, expires_at, created_at: timestamp(now), revoked_at: null, step: "recorded" };
  }

  /** Continues from the step that an earlier attempt reached. GrantRecord says why there are three steps. */
  async #issue(draft: GrantRecord, terms: GrantTerms): Promise<GrantRecord> {
    const { accounts, versions, issueWaitMs } = this.#options;
    let record = await this.#options.store.insert(draft);
    refuseOtherTerms(record, terms);
    const { _id: grantId, account: accountId, key: keyId, surface, amount } = record;
    const address = { accountId, keyId, surface, grantId };
    if (record.step === "recorded" && record.revoked_at === null) {
      await this.#options.counters.put({ ...address, amount: 0, expiresAtMs: Date.parse(record.expires_at) });
      record = await this.#options.store.advance(grantId, "recorded", "placed");
    }
    if (record.step === "placed" && record.revoked_at === null) {
      // Until now a replica may have refused by itself what the grant admits. From now on no replica does.
      await setTimeout(issueWaitMs);
      if (await this.#options.counters.fillOnce({ ...address, amount })) {
        // A new version makes every replica read the key's grants again, so that every response shows this one.
        await accounts.change(accountId, this.#now(), (account) => ({ ...account })); // a new object counts as a change
        await announceAccount(accountId, { store: accounts, versions });
        record = await this.#options.store.advance(grantId, "placed", "issued");
      } else {
        record = await this.#options.store.get(grantId);
        if (record.revoked_at === null) throw lost(grantId);
      }
    }
    // It was revoked, and may have been placed after the revocation removed it from Redis.
    if (record.revoked_at !== null) await this.#options.counters.remove(address);
    return record;
  }

  async #views(records: readonly GrantRecord[]): Promise<GrantView[]> {
    const addresses = records.map(({ account: accountId, key: keyId, surface }) => ({ accountId, keyId, surface }));
    const distinct = new Map(addresses.map((address) => [`${address.keyId} ${address.surface}`, address]));
    const lists = [...distinct.values()].map(({ surface, ...caller }) => this.#options.counters.list(caller, surface));
    const byId = new Map((await Promise.all(lists)).flat().map((grant) => [grant.id, grant]));
    return records.map((record) => viewGrant(record, byId.get(record._id), this.#now()));
  }

  async #view(record: GrantRecord): Promise<GrantView> {
    return (await this.#views([record]))[0]!;
  }

  #now(): string {
    return timestamp(this.#options.clock.now());
  }
}

function lost(id: string): Problem {
  const detail = `Redis has lost the count of the grant ${id}. How much was drawn from it is unknown, so it is not issued again. Create a new grant.`;
  return problem("invalid_transition", detail);
}
