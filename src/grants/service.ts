import { setTimeout } from "node:timers/promises";
import { findKey } from "../accounts/account.ts";
import { announceAccount, type Versions } from "../accounts/announce.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { ListView } from "../accounts/view.ts";
import { MAX_HOURS } from "../audit/approval.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { type Clock, HOUR_MS, timestamp } from "../infra/clock.ts";
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

export type GrantService = ReturnType<typeof grantService>;

/**
 * Manages grants. MongoDB holds the record of a grant; Redis holds how much of it remains, and charges draw on that. Every
 * function may throw problem `store_unavailable` or `limiter_unavailable`. Repeat the call then: it continues where it stopped.
 */
export function grantService({ accounts, versions, store, counters, audit, clock, newId, issueWaitMs }: Dependencies) {
  const nowText = () => timestamp(clock.now());
  const view = async (record: GrantRecord) => (await views([record]))[0]!;

  /**
   * Issues a grant. Repeating the same id and terms issues it only once, even if Redis has lost it.
   * @throws problem `not_found` for an unknown key; `invalid_transition` for a revoked key, or a grant that Redis lost;
   * `validation_failed` for invalid terms, or an id that is taken by a grant with other terms.
   */
  async function create(request: GrantRequest): Promise<GrantView> {
    const { terms, existing } = await checked(request);
    // The same id was used for several surfaces, this one among them.
    if (request.id !== undefined) await refuseTaken(`${request.id}-${request.surface}`);
    const record = existing ?? (await draft(request.id ?? newId("grant"), terms));
    if (record.step === "issued" || record.revoked_at !== null) {
      const issued = await view(record);
      if (issued.status === "lost") throw lost(issued.id);
      return issued;
    }
    const { _id: subject, account: accountId } = record;
    const { key, ...details } = terms;
    const change = { action: "grants create", accountId, subject, details: { key_id: key, ...details } };
    return view(await audit.around(change, () => issue(record, terms)));
  }

  /** Issues a grant for each surface, with the ids `ID-SURFACE`. Looks for a fault in any of them before it issues the first. */
  async function createForSurfaces(request: GrantRequest, surfaces: readonly string[]): Promise<ListView<GrantView>> {
    const base = request.id ?? newId("grant");
    const requests = surfaces.map((surface) => ({ ...request, surface, id: `${base}-${surface}` }));
    for (const each of requests) await checked(each);
    await refuseTaken(base);
    const data: GrantView[] = [];
    try {
      for (const each of requests) data.push(await create(each));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const advice = `Repeat the command with the id ${base}: what is issued already is not issued again.`;
      throw problem(error.code, `${error.message} ${advice}`);
    }
    return { object: "list", data };
  }

  /** Returns the terms, and the grant that already has the id. @throws problem `validation_failed` if its terms differ. */
  async function checked(request: GrantRequest): Promise<{ terms: GrantTerms; existing: GrantRecord | null }> {
    const terms = checkedTerms(request);
    const existing = request.id === undefined ? null : await store.find(request.id);
    if (existing !== null) refuseOtherTerms(existing, terms);
    return { terms, existing };
  }

  /** @throws problem `validation_failed` if a grant has this id. */
  async function refuseTaken(id: string): Promise<void> {
    const taken = await store.find(id);
    if (taken !== null) throw invalid("/id", `is taken: the grant ${id} is for ${taken.surface}. Choose another id`);
  }

  /** Returns the grants of an account, oldest first. @throws problem `not_found` */
  async function list(accountId: string): Promise<ListView<GrantView>> {
    await accounts.get(accountId);
    return { object: "list", data: await views(await store.list(accountId)) };
  }

  /**
   * Returns the grants of all accounts that expire within these hours, the next one first; at most 1,000.
   * @throws problem `validation_failed`
   */
  async function expiring(hours: number): Promise<ListView<GrantView>> {
    if (!(hours > 0 && hours <= MAX_HOURS))
      throw invalid("/hours", `must be a number above 0 and at most ${MAX_HOURS}`);
    const until = timestamp(clock.now() + Math.round(hours * HOUR_MS));
    return { object: "list", data: await views(await store.expiring(nowText(), until)) };
  }

  /** Revokes a grant. From the next charge on, nothing is drawn from it. Idempotent. @throws problem `not_found` */
  async function revoke(id: string): Promise<GrantView> {
    const { account: accountId, key, surface } = await store.get(id);
    const change = { action: "grants revoke", accountId, subject: id, details: { key_id: key } };
    const record = await audit.around(change, async () => {
      const revoked = await store.revoke(id, nowText());
      await counters.remove({ accountId, keyId: key, surface, grantId: id });
      return revoked;
    });
    return view(record);
  }

  async function draft(id: string, terms: GrantTerms): Promise<GrantRecord> {
    const account = await accounts.accountOfKey(terms.key);
    if (findKey(await accounts.get(account), terms.key).revoked_at !== null)
      throw problem("invalid_transition", `The key ${terms.key} is revoked. Give the grant to an active key.`);
    const now = clock.now();
    const expires_at = timestamp(now + Math.round(terms.expires_in_hours * HOUR_MS));
    return { _id: id, account, ...terms, expires_at, created_at: timestamp(now), revoked_at: null, step: "recorded" };
  }

  /** Continues from the step that an earlier attempt reached. GrantRecord says why there are three steps. */
  async function issue(draft: GrantRecord, terms: GrantTerms): Promise<GrantRecord> {
    let record = await store.insert(draft);
    refuseOtherTerms(record, terms);
    const { _id: grantId, account: accountId, key: keyId, surface, amount } = record;
    const address = { accountId, keyId, surface, grantId };
    if (record.step === "recorded" && record.revoked_at === null) {
      await counters.put({ ...address, amount: 0, expiresAtMs: Date.parse(record.expires_at) });
      record = await store.advance(grantId, "recorded", "placed");
    }
    if (record.step === "placed" && record.revoked_at === null) {
      // Until now a replica may have refused by itself what the grant admits. From now on no replica does.
      await setTimeout(issueWaitMs);
      if (await counters.fillOnce({ ...address, amount })) {
        // A new version makes every replica read the key's grants again, so that every response shows this one.
        await accounts.change(accountId, nowText(), (account) => ({ ...account })); // a new object counts as a change
        await announceAccount(accountId, { store: accounts, versions });
        record = await store.advance(grantId, "placed", "issued");
      } else {
        record = await store.get(grantId);
        if (record.revoked_at === null) throw lost(grantId);
      }
    }
    // It was revoked, and may have been placed after the revocation removed it from Redis.
    if (record.revoked_at !== null) await counters.remove(address);
    return record;
  }

  async function views(records: readonly GrantRecord[]): Promise<GrantView[]> {
    const addresses = records.map(({ account: accountId, key: keyId, surface }) => ({ accountId, keyId, surface }));
    const distinct = new Map(addresses.map((address) => [`${address.keyId} ${address.surface}`, address]));
    const lists = [...distinct.values()].map(({ surface, ...caller }) => counters.list(caller, surface));
    const byId = new Map((await Promise.all(lists)).flat().map((grant) => [grant.id, grant]));
    return records.map((record) => viewGrant(record, byId.get(record._id), nowText()));
  }

  return { create, createForSurfaces, list, expiring, revoke };
}

function lost(id: string): Problem {
  const detail = `Redis has lost the count of the grant ${id}. How much was drawn from it is unknown, so it is not issued again. Create a new grant.`;
  return problem("invalid_transition", detail);
}
