import { findKey } from "../accounts/account.ts";
import type { AccountStore } from "../accounts/store.ts";
import type { ListView } from "../accounts/view.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import type { GrantCounters } from "../limiter/grant-counters.ts";
import { type Problem, problem } from "../problems.ts";
import type { GrantRecord, GrantStore } from "./store.ts";
import { checkedTerms, type GrantRequest, type GrantTerms, sameTerms } from "./terms.ts";
import { type GrantView, viewGrant } from "./view.ts";

interface Dependencies {
  readonly accounts: Pick<AccountStore, "accountOfKey" | "get">;
  readonly store: GrantStore;
  readonly counters: GrantCounters;
  readonly audit: AuditTrail;
  /** One that follows Redis's: it decides when a grant ends. */
  readonly clock: Clock;
  readonly newId: NewId;
}

const HOUR_MS = 60 * 60 * 1000;

/**
 * What support does when a client has to create more than the limit, once: a grant for one key. The record of it is in
 * MongoDB, what is left of it in Redis, where charges draw on it. Every method may throw problem `store_unavailable` or
 * `limiter_unavailable`; repeating it then goes on from where it was.
 */
export class GrantService {
  readonly #accounts: Dependencies["accounts"];
  readonly #store: GrantStore;
  readonly #counters: GrantCounters;
  readonly #audit: AuditTrail;
  readonly #clock: Clock;
  readonly #newId: NewId;

  constructor({ accounts, store, counters, audit, clock, newId }: Dependencies) {
    this.#accounts = accounts;
    this.#store = store;
    this.#counters = counters;
    this.#audit = audit;
    this.#clock = clock;
    this.#newId = newId;
  }

  /**
   * Makes a grant. The same id with the same terms is the same grant, given once: however often it is asked for, whatever was
   * drawn since, and though Redis should have lost it.
   * @throws problem `not_found` or `invalid_transition` for a key that is not there or revoked, or a grant that Redis lost;
   * `validation_failed` for terms that cannot be, or that are not those the id has.
   */
  async create(request: GrantRequest): Promise<GrantView> {
    const terms = checkedTerms(request);
    const before = request.id === undefined ? null : await this.#store.find(request.id);
    if (before !== null) sameTerms(before, terms);
    const record = before ?? (await this.#draft(request.id ?? this.#newId("grant"), terms));
    if (record.step === "issued" || record.revoked_at !== null) return this.#notLost(await this.#view(record));
    const { key, ...details } = terms;
    const change = {
      action: "grants create",
      account: record.account,
      subject: record._id,
      details: { key_id: key, ...details },
    };
    return this.#view(await this.#audit.around(change, () => this.#issue(record, terms)));
  }

  /** The grants of an account, oldest first. @throws problem `not_found` */
  async list(accountId: string): Promise<ListView<GrantView>> {
    await this.#accounts.get(accountId);
    const records = await this.#store.list(accountId);
    const keyIds = [...new Set(records.map(({ key }) => key))];
    const counted = (await Promise.all(keyIds.map((keyId) => this.#counters.list({ accountId, keyId })))).flat();
    const byId = new Map(counted.map((grant) => [grant.id, grant]));
    return { object: "list", data: records.map((record) => viewGrant(record, byId.get(record._id), this.#now())) };
  }

  /** Ends a grant; from the next charge on nothing is drawn from it. Again: the same. @throws problem `not_found` */
  async revoke(id: string): Promise<GrantView> {
    const { account, key } = await this.#store.get(id);
    const change = { action: "grants revoke", account, subject: id, details: { key_id: key } };
    const record = await this.#audit.around(change, async () => {
      const revoked = await this.#store.revoke(id, this.#now());
      await this.#counters.remove({ accountId: account, keyId: key, grantId: id });
      return revoked;
    });
    return this.#view(record);
  }

  async #draft(id: string, terms: GrantTerms): Promise<GrantRecord> {
    const account = await this.#accounts.accountOfKey(terms.key);
    if (findKey(await this.#accounts.get(account), terms.key).revoked_at !== null) {
      throw problem("invalid_transition", `The key ${terms.key} is revoked: nothing can be granted to it.`);
    }
    const now = this.#clock.now();
    const expires_at = timestamp(now + Math.round(terms.expires_in_hours * HOUR_MS));
    return { _id: id, account, ...terms, expires_at, created_at: timestamp(now), revoked_at: null, step: "recorded" };
  }

  /** Goes on from the step that was reached; GrantRecord says why there are three. */
  async #issue(draft: GrantRecord, terms: GrantTerms): Promise<GrantRecord> {
    let record = await this.#store.insert(draft);
    sameTerms(record, terms);
    const { _id: grantId, account: accountId, key: keyId, amount } = record;
    if (record.step === "recorded" && record.revoked_at === null) {
      await this.#counters.put({ grantId, accountId, keyId, amount: 0, expiresAtMs: Date.parse(record.expires_at) });
      record = await this.#store.advance(grantId, "recorded", "placed");
    }
    if (record.step === "placed" && record.revoked_at === null) {
      const filled = await this.#counters.fillOnce({ grantId, accountId, keyId, amount });
      record = filled ? await this.#store.advance(grantId, "placed", "issued") : await this.#store.get(grantId);
      if (!filled && record.revoked_at === null) throw lost(grantId);
    }
    // Revoked in the meantime: an empty place may have been put down after the revocation looked for one.
    if (record.revoked_at !== null) await this.#counters.remove({ accountId, keyId, grantId });
    return record;
  }

  async #view(record: GrantRecord): Promise<GrantView> {
    const counted = await this.#counters.list({ accountId: record.account, keyId: record.key });
    return viewGrant(
      record,
      counted.find(({ id }) => id === record._id),
      this.#now(),
    );
  }

  #notLost(view: GrantView): GrantView {
    if (view.status === "lost") throw lost(view.id);
    return view;
  }

  #now(): string {
    return timestamp(this.#clock.now());
  }
}

function lost(id: string): Problem {
  const detail = `Redis has lost what was left of the grant ${id}. How much was drawn cannot be known, so it is not given again: make another.`;
  return problem("invalid_transition", detail);
}
