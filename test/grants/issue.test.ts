import { mock } from "node:test";
import { expect } from "chai";
import { newTypeId } from "../../src/infra/ids.ts";
import type { GrantService } from "../../src/grants/service.ts";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { redisKeys } from "../../src/limiter/scripts.ts";
import { useAccounts } from "../accounts/support.ts";
import { problem } from "../../src/problems.ts";
import { limiterOver, problemOf, useTestRedis } from "../limiter/support.ts";
import { newGrantRequest, newGrantService } from "./grant-service.ts";

/** The moments at which these tests cut off the issue of a grant: before and after each of its two writes to Redis. */
const CUTS = ["put before", "put after", "fill before", "fill after"] as const;
type Cut = (typeof CUTS)[number];

class Crash extends Error {}

/** Grant counters that crash at `cut`. */
class CrashingCounters extends GrantCounters {
  cut: Cut | undefined;

  override async put(grant: Parameters<GrantCounters["put"]>[0]): Promise<boolean> {
    return this.#crashAtCut("put", () => super.put(grant));
  }

  override async fillOnce(grant: Parameters<GrantCounters["fillOnce"]>[0]): Promise<boolean> {
    return this.#crashAtCut("fill", () => super.fillOnce(grant));
  }

  async #crashAtCut<T>(step: "put" | "fill", work: () => Promise<T>): Promise<T> {
    if (this.cut === `${step} before`) throw new Crash();
    const result = await work();
    if (this.cut === `${step} after`) throw new Crash();
    return result;
  }
}

describe("GrantService", () => {
  const accounts = useAccounts();
  const redis = useTestRedis();
  let counters: CrashingCounters;
  let grants: GrantService;
  let accountId: string;
  let request: GrantRequest & { id: string };
  before(() => {
    counters = new CrashingCounters(redis);
    ({ grants } = newGrantService(accounts, { counters }));
  });
  beforeEach(async () => {
    ({ accountId, request } = await newGrantRequest(accounts));
  });

  const cutOff = async (cut: Cut) => {
    counters.cut = cut;
    const outcome = await grants.create(request).catch((error: unknown) => error);
    counters.cut = undefined;
    expect(outcome).to.be.instanceOf(Crash);
  };
  /** Sends creates with the key. @returns how many were admitted. */
  const admitted = async (requests: number) => {
    const limiter = limiterOver(redis);
    const charges = Array.from({ length: requests }, () =>
      limiter.charge({ accountId, keyId: request.keyId, surface: "create" }),
    );
    return (await Promise.all(charges)).filter(({ verdict }) => verdict === "admitted" || verdict === "granted").length;
  };
  /** Deletes the key's grants from Redis. */
  const loseGrants = () => redis.del(redisKeys.grants({ accountId, keyId: request.keyId }, "create"));

  for (const cut of CUTS) {
    it(`gives the amount once if the command is repeated after a crash (${cut})`, async () => {
      await cutOff(cut);
      const drawn = await admitted(103);
      expect(drawn).to.equal(cut === "fill after" ? 103 : 100);
      expect(await grants.create(request)).to.include({ id: request.id, remaining: 105 - Math.max(drawn, 100) });
      expect(drawn + (await admitted(110))).to.equal(105);
    });

    it(`never gives the amount twice if Redis also loses its data after the crash (${cut})`, async () => {
      await cutOff(cut);
      const drawn = await admitted(104);
      await loseGrants();
      const repeated = await grants.create(request).then(
        (view) => view.remaining,
        () => "refused",
      );
      expect(repeated, "filled now, or refused as it may have been given before").to.equal(
        cut.startsWith("put") ? 5 : "refused",
      );
      expect(drawn + (await admitted(110))).to.be.at.most(105);
    });
  }

  it("does not fill a grant again that was used up while its command was interrupted", async () => {
    await cutOff("fill after");
    expect(await admitted(110)).to.equal(105);
    expect(await grants.create(request)).to.include({ remaining: 0, status: "exhausted" });
    expect(await admitted(3)).to.equal(0);
  });

  it("raises the account's version once, after it is filled, also if its command was interrupted", async () => {
    const known = () => redis.hget(redisKeys.ledger(accountId), "version");
    const { version } = await accounts.store.get(accountId);
    for (const cut of ["put after", "fill before", "fill after"] as const) {
      await cutOff(cut);
      expect(await known(), cut).to.equal(null);
    }
    await grants.create(request);
    expect(await known()).to.equal(`${version + 1}`);
    await grants.create(request);
    expect(await known()).to.equal(`${version + 1}`);
    expect((await accounts.store.get(accountId)).version).to.equal(version + 1);
  });

  it("shows a grant that Redis has lost as lost, and does not give it again", async () => {
    await grants.create(request);
    await admitted(102);
    await loseGrants();
    expect((await grants.list(accountId)).data[0]).to.include({ status: "lost", remaining: null });
    expect((await problemOf(grants.create(request))).message).to.match(/lost the count of the grant/);
    expect(await admitted(10)).to.equal(0);
  });

  it("does not issue a revoked grant when its command is repeated", async () => {
    await cutOff("fill before");
    await grants.revoke(request.id);
    expect(await grants.create(request)).to.include({ status: "revoked" });
    expect(await admitted(110)).to.equal(100);
  });

  it("says how to go on if the grants of several surfaces are issued only in part", async () => {
    const surfaces = ["create", "list"];
    const put = mock.method(counters, "put", async (grant: Parameters<GrantCounters["put"]>[0]) => {
      if (grant.surface === "list") throw problem("limiter_unavailable", "Redis does not answer.");
      return GrantCounters.prototype.put.call(counters, grant);
    });
    const { code, message } = await problemOf(grants.createForSurfaces(request, surfaces));
    expect(code).to.equal("limiter_unavailable");
    expect(message).to.equal(
      `Redis does not answer. Repeat the command with the id ${request.id}: what is issued already is not issued again.`,
    );
    put.mock.restore();
    const { object, data } = await grants.createForSurfaces(request, surfaces);
    expect(object).to.equal("list");
    expect(data.map(({ id, surface, remaining }) => ({ id, surface, remaining }))).to.deep.equal(
      surfaces.map((surface) => ({ id: `${request.id}-${surface}`, surface, remaining: request.amount })),
    );
    expect(await admitted(110)).to.equal(105);
  });

  it("refuses a grant for an unknown or revoked key, for an unknown surface, and with invalid terms", async () => {
    const problemWith = (more: Partial<GrantRequest>) => problemOf(grants.create({ ...request, ...more }));
    const refused = async (more: Partial<GrantRequest>) => (await problemWith(more)).code;
    const faulty = async (more: Partial<GrantRequest>) => {
      const { code, extras } = await problemWith(more);
      expect(code).to.equal("validation_failed");
      return (extras as { errors?: { pointer: string }[] }).errors?.map(({ pointer }) => pointer).join(" ");
    };
    expect(await refused({ keyId: newTypeId("key") })).to.equal("not_found");
    expect(await faulty({ surface: "creates" })).to.equal("/surface");
    expect(await faulty({ amount: 0 })).to.equal("/amount");
    expect(await faulty({ id: "grant_" })).to.equal("/id");
    await accounts.service.revokeKey(request.keyId);
    const { code, message } = await problemWith({});
    expect(code).to.equal("invalid_transition");
    expect(message).to.equal(`The key ${request.keyId} is revoked. Give the grant to an active key.`);
  });
});
