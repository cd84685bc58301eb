import { AuditStore } from "../../src/audit/store.ts";
import { auditTrail } from "../../src/audit/trail.ts";
import { grantService } from "../../src/grants/service.ts";
import { GrantStore } from "../../src/grants/store.ts";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { type Clock, SharedClock } from "../../src/infra/clock.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import type { GrantCounters } from "../../src/limiter/grant-counters.ts";
import type { Accounts } from "../accounts/support.ts";

/** Returns a service that issues grants, its store and its audit trail. The trail names `test` as the actor. */
export function newGrantService(
  { mongo, store: accounts, versions }: Pick<Accounts, "mongo" | "store" | "versions">,
  {
    counters,
    clock = new SharedClock(),
    issueWaitMs = 0,
  }: { counters: GrantCounters; clock?: Clock; issueWaitMs?: number },
) {
  const store = new GrantStore(mongo);
  const audit = auditTrail({ store: new AuditStore(mongo, clock), newId: newTypeId, actor: () => "test" });
  // Where no replica repeats refusals, the issue need not wait.
  const given = { accounts, versions, store, counters, audit, clock, newId: newTypeId, issueWaitMs };
  const grants = grantService(given);
  return { store, audit, grants };
}

/** Creates an account with a key. Returns its id and a request for five creates with that key beyond its limit. */
export async function newGrantRequest({
  service,
}: Pick<Accounts, "service">): Promise<{ accountId: string; request: GrantRequest & { id: string } }> {
  const { id: accountId } = await service.createAccount({ name: "Acme" });
  const { id: keyId } = await service.createKey({ accountId, name: "ats" });
  const id = newTypeId("grant");
  const terms = { surface: "create", amount: 5, expiresInHours: 1, approvedBy: "Ann", reason: "backfill" };
  return { accountId, request: { ...terms, keyId, id } };
}
