import { expect } from "chai";
import type { AuditTrail } from "../../src/audit/trail.ts";
import type { GrantService } from "../../src/grants/service.ts";
import type { GrantRecord, GrantStore } from "../../src/grants/store.ts";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { useAccounts } from "../accounts/support.ts";
import { problemOf, useTestRedis } from "../limiter/support.ts";
import { newGrantRequest, newGrantService } from "./grant-service.ts";

describe("several grants", () => {
  const accounts = useAccounts();
  const redis = useTestRedis();
  let store: GrantStore;
  let audit: AuditTrail;
  let grants: GrantService;
  let accountId: string;
  let request: GrantRequest & { id: string };
  before(() => {
    ({ store, audit, grants } = newGrantService(accounts, { counters: new GrantCounters(redis) }));
  });
  beforeEach(async () => {
    ({ accountId, request } = await newGrantRequest(accounts));
  });

  const listed = async () => (await grants.list(accountId)).data;
  /** Expects that the work is refused with validation_failed. @returns the text of the refusal. */
  const faultOf = async (work: Promise<unknown>) => {
    const { code, message } = await problemOf(work);
    expect(code).to.equal("validation_failed");
    return message;
  };

  it("of one key and surface have an amount each", async () => {
    const other = { ...request, id: newTypeId("grant"), amount: 7 };
    expect(await grants.create(request)).to.include({ amount: 5, remaining: 5 });
    expect(await grants.create(other)).to.include({ amount: 7, remaining: 7 });
    expect(await grants.create(request), "repeated").to.include({ amount: 5, remaining: 5 });
  });

  it("of several keys and surfaces are listed with what remains of each, oldest first", async () => {
    const { id: keyId } = await accounts.service.createKey({ accountId, name: "second" });
    const made = [
      await grants.create(request),
      await grants.create({ ...request, id: newTypeId("grant"), surface: "list", amount: 6 }),
      await grants.create({ ...request, id: newTypeId("grant"), keyId, amount: 7 }),
    ];
    const rows = await listed();
    expect(rows).to.deep.equal(made);
    expect(rows.map(({ status, remaining }) => `${status} ${remaining}`)).to.deep.equal(["live 5", "live 6", "live 7"]);
  });

  it("are listed by their age, not in the order in which their records were written", async () => {
    const record: Omit<GrantRecord, "_id" | "created_at"> = {
      account: accountId,
      key: request.keyId,
      surface: "create",
      amount: 5,
      expires_in_hours: 1,
      expires_at: "2026-11-22T10:00:00.000Z",
      approved_by: "Ann",
      reason: "backfill",
      revoked_at: null,
      step: "recorded",
    };
    const [young, old] = [newTypeId("grant"), newTypeId("grant")];
    await store.insert({ ...record, _id: young, created_at: "2026-11-22T09:00:00.001Z" });
    await store.insert({ ...record, _id: old, created_at: "2026-11-22T09:00:00.000Z" });
    expect((await listed()).map(({ id }) => id)).to.deep.equal([old, young]);
  });

  it("are all refused if one of them has a fault, or is issued already with other terms", async () => {
    expect(await faultOf(grants.createForSurfaces(request, ["create", "sleep"]))).to.match(
      /^\/surface must be one of /,
    );
    expect(await listed()).to.deep.equal([]);
    const { id } = await grants.create({ ...request, id: `${request.id}-list`, surface: "list", amount: 6 });
    expect(await faultOf(grants.createForSurfaces(request, ["create", "list"]))).to.equal(
      `/id is taken: the grant ${id} has amount 6. Repeat its terms, or choose another id.`,
    );
    expect((await listed()).map((grant) => grant.id)).to.deep.equal([id]);
  });

  it("have no id in common with a single grant", async () => {
    await grants.create(request);
    expect(await faultOf(grants.createForSurfaces(request, ["list", "start"]))).to.equal(
      `/id is taken: the grant ${request.id} is for create. Choose another id.`,
    );
    const id = newTypeId("grant");
    await grants.createForSurfaces({ ...request, id }, ["create", "list"]);
    expect(await faultOf(grants.create({ ...request, id, surface: "list" }))).to.equal(
      `/id is taken: the grant ${id}-list is for list. Choose another id.`,
    );
    expect(await listed()).to.have.length(3);
  });

  it("are recorded in the audit trail with their terms, and so is the revocation of one", async () => {
    const { data } = await grants.createForSurfaces(request, ["create", "list"]);
    await grants.revoke(`${request.id}-list`);
    const terms = { amount: 5, expires_in_hours: 1, approved_by: "Ann", reason: "backfill", key_id: request.keyId };
    const entries = (await audit.list(3, accountId)).data.toReversed();
    expect(entries.map(({ actor, action, subject, details }) => [actor, action, subject, details])).to.deep.equal([
      ["test", "grants create", data[0]?.id, { ...terms, surface: "create" }],
      ["test", "grants create", data[1]?.id, { ...terms, surface: "list" }],
      ["test", "grants revoke", data[1]?.id, { key_id: request.keyId }],
    ]);
  });
});
