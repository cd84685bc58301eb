import { expect } from "chai";
import { KeyMarkers } from "../../src/limiter/key-markers.ts";
import { newCaller, useLimiter } from "./support.ts";

/** Two operators' commands: the store has them in one order, and they reach Redis in the other. */
describe("KeyMarkers: a command that is overtaken", () => {
  const { redis, chargeOne } = useLimiter();
  const verdict = async (request: Parameters<typeof chargeOne>[0]) => (await chargeOne(request)).verdict;

  it("does not undo a revocation", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markRevoked(caller.accountId, caller.keyId);
    await markers.markRotated(caller.accountId, caller.keyId, 2);
    expect(await verdict({ ...caller, surface: "reads", accountVersion: 2 })).to.equal("revoked");
  });

  it("does not undo a newer rotation", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markRotated(caller.accountId, caller.keyId, 10);
    await markers.markRotated(caller.accountId, caller.keyId, 9);
    expect(await verdict({ ...caller, surface: "reads", accountVersion: 9 })).to.equal("outdated");
    expect(await verdict({ ...caller, surface: "reads", accountVersion: 10 })).to.equal("admitted");
  });

  it("does not undo a suspension", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markStatus(caller.accountId, "suspended", 10);
    await markers.markStatus(caller.accountId, "active", 9);
    expect(await verdict({ ...caller, surface: "reads" })).to.equal("suspended");
    await markers.markStatus(caller.accountId, "active", 11);
    expect(await verdict({ ...caller, surface: "reads" })).to.equal("admitted");
  });

  it("does not suspend an account that was resumed", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    await markers.markStatus(caller.accountId, "active", 10);
    await markers.markStatus(caller.accountId, "suspended", 9);
    expect(await verdict({ ...caller, surface: "reads" })).to.equal("admitted");
  });

  it("of the same version can be repeated", async () => {
    const caller = newCaller();
    const markers = new KeyMarkers(redis);
    for (let times = 0; times < 2; times++) {
      await markers.markStatus(caller.accountId, "suspended", 3);
      await markers.markRevoked(caller.accountId, caller.keyId);
    }
    expect(await verdict({ ...caller, surface: "reads" })).to.equal("revoked");
    await markers.markStatus(caller.accountId, "active", 3);
    expect(await verdict({ ...newCaller(caller.accountId), surface: "reads" })).to.equal("admitted");
  });
});
