import { expect } from "chai";
import type { GrantService } from "../../src/grants/service.ts";
import type { GrantRecord, GrantStore } from "../../src/grants/store.ts";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { redisKeys } from "../../src/limiter/scripts.ts";
import { useAccounts } from "../accounts/support.ts";
import { limiterOver, useTestRedis } from "../limiter/support.ts";
import { newGrantRequest, newGrantService } from "./grant-service.ts";

const HOUR_MS = 60 * 60 * 1000;

/** Runs something before or after a write to Redis, as another command would. */
class InterruptedCounters extends GrantCounters {
  beforePut: () => Promise<unknown> = async () => undefined;
  beforeFill: () => Promise<unknown> = async () => undefined;
  afterFill: () => Promise<unknown> = async () => undefined;

  override async put(grant: Parameters<GrantCounters["put"]>[0]): Promise<boolean> {
    await this.beforePut();
    return super.put(grant);
  }

  override async fillOnce(grant: Parameters<GrantCounters["fillOnce"]>[0]): Promise<boolean> {
    await this.beforeFill();
    const filled = await super.fillOnce(grant);
    await this.afterFill();
    return filled;
  }
}

describe("a grant", () => {
  const accounts = useAccounts();
  const redis = useTestRedis();
  let counters: InterruptedCounters;
  let store: GrantStore;
  let grants: GrantService;
  let later = 0;
  let accountId: string;
  let request: GrantRequest & { id: string };
  beforeEach(async () => {
    counters = new InterruptedCounters(redis);
    const shared = new SharedClock();
    later = 0;
    const clock = { now: () => shared.now() + later };
    ({ store, grants } = newGrantService(accounts, { counters, clock }));
    ({ accountId, request } = await newGrantRequest(accounts));
  });

  const inRedis = () => redis.hgetall(redisKeys.grants({ accountId, keyId: request.keyId }, "create"));
  const recordAt = (step: GrantRecord["step"], now = Date.now()): GrantRecord => ({
    _id: request.id,
    account: accountId,
    key: request.keyId,
    surface: "create",
    amount: 5,
    expires_in_hours: 1,
    expires_at: new Date(now + HOUR_MS).toISOString(),
    approved_by: "Ann",
    reason: "backfill",
    created_at: new Date(now).toISOString(),
    revoked_at: null,
    step,
  });

  describe("that is revoked", () => {
    it("leaves no count in Redis: no request draws on it, and no header shows it", async () => {
      await grants.create(request);
      expect(Object.keys(await inRedis())).to.deep.equal([request.id]);
      await grants.revoke(request.id);
      expect(await inRedis()).to.deep.equal({});
      const charged = { accountId, keyId: request.keyId, surface: "create", cost: 101 } as const;
      expect(await limiterOver(redis).charge(charged)).to.deep.include({ verdict: "key_exhausted", grantAmount: null });
    });

    for (const moment of ["beforePut", "beforeFill", "afterFill"] as const) {
      it(`leaves no count in Redis if it was revoked while it was issued (${moment})`, async () => {
        counters[moment] = () => grants.revoke(request.id);
        expect(await grants.create(request)).to.include({ status: "revoked", remaining: null });
        expect(await inRedis()).to.deep.equal({});
        counters[moment] = async () => undefined;
        const entries = () => accounts.mongo.db.collection("audit").countDocuments({});
        const before = await entries();
        expect(before).to.be.above(0);
        expect(await grants.create(request)).to.include({ status: "revoked" });
        expect(await entries(), "its command does nothing more that the audit would record").to.equal(before);
      });
    }

    for (const step of ["recorded", "placed"] as const) {
      it(`is not written to Redis if another command has ${step} and revoked it in the meantime`, async () => {
        const insert = store.insert.bind(store);
        store.insert = async (draft) => {
          await insert(recordAt(step));
          await grants.revoke(request.id);
          return insert(draft);
        };
        let writes = 0;
        counters.beforePut = counters.beforeFill = async () => writes++;
        expect(await grants.create(request)).to.include({ status: "revoked", remaining: null });
        expect(writes).to.equal(0);
      });
    }

    it("leaves the counts of the key's other grants", async () => {
      const other = await grants.create({ ...request, id: newTypeId("grant") });
      await grants.create(request);
      await grants.revoke(request.id);
      expect(Object.keys(await inRedis())).to.deep.equal([other.id]);
    });

    it("keeps the time of its first revocation, and is not issued again", async () => {
      await grants.create(request);
      const { revoked_at } = await grants.revoke(request.id);
      expect(revoked_at).to.match(/Z$/);
      later = 1_000;
      expect(await grants.revoke(request.id)).to.include({ status: "revoked", revoked_at });
      expect(await grants.create(request)).to.include({ status: "revoked", revoked_at });
      expect(await inRedis()).to.deep.equal({});
    });

    it("is not listed for another account", async () => {
      const elsewhere = (await accounts.service.createAccount({ name: "Other" })).id;
      await grants.create(request);
      await grants.revoke(request.id);
      expect((await grants.list(elsewhere)).data).to.deep.equal([]);
      expect((await grants.list(accountId)).data.map(({ id }) => id)).to.deep.equal([request.id]);
    });
  });

  describe("that was not revoked", () => {
    it("expires after its hours, and is pending until it is filled", async () => {
      await store.insert(recordAt("placed"));
      const address = { accountId, keyId: request.keyId, surface: "create", grantId: request.id } as const;
      await counters.put({ ...address, amount: 0, expiresAtMs: Date.now() + HOUR_MS });
      expect((await grants.list(accountId)).data[0]).to.include({ status: "pending", remaining: null });
      expect(await grants.create(request)).to.include({ status: "live", remaining: 5 });
      later = HOUR_MS;
      expect((await grants.list(accountId)).data[0]).to.include({ status: "expired", remaining: 5 });
    });

    it("is issued once if another command issues it in the meantime", async () => {
      const insert = store.insert.bind(store);
      let fills = 0;
      counters.afterFill = async () => fills++;
      store.insert = async (draft) => {
        store.insert = insert;
        await grants.create(request);
        return insert(draft);
      };
      expect(await grants.create(request)).to.include({ status: "live", remaining: 5 });
      expect(fills).to.equal(1);
    });

    it("keeps its step if an older command comes late, and its record if a second command inserts it", async () => {
      const record = recordAt("issued");
      expect(await store.insert(record)).to.deep.equal(record);
      expect((await store.advance(request.id, "recorded", "placed")).step).to.equal("issued");
      expect(await store.insert({ ...record, amount: 9 })).to.deep.equal(record);
    });
  });
});
