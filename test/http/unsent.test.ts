import { EventEmitter, once } from "node:events";
import type { ServerResponse } from "node:http";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { placeFor } from "../../src/http/unsent.ts";
import { useNoService } from "../support/use-service.ts";

/** A response of which only its end is seen. */
function response() {
  const socket = { destroyed: false };
  const res = Object.assign(new EventEmitter(), { req: { socket } }) as unknown as ServerResponse;
  return { res, socket, end: () => res.emit("close") };
}

describe("the place of a page that is not sent whole", () => {
  useNoService();

  it("is free again once it is sent: of 17 of one account the last waits, and no other account does", async () => {
    const all = Array.from({ length: 17 }, response);
    let begun = 0;
    for (const { res } of all) void placeFor("acct_1", res).then(() => begun++);
    await placeFor("acct_2", response().res);
    expect(begun).to.equal(16);
    all[3]?.end();
    await setImmediate();
    expect(begun).to.equal(17);
    for (const { end } of all) end();
    const many = Array.from({ length: 16 }, () => placeFor("acct_1", response().res));
    await Promise.all(many);
  });

  it("is not kept by a client that left while it waited", async () => {
    const first = Array.from({ length: 16 }, response);
    await Promise.all(first.map(({ res }) => placeFor("acct_3", res)));
    const left = response();
    const waits = placeFor("acct_3", left.res);
    left.socket.destroyed = true;
    const next = response();
    const later = placeFor("acct_3", next.res);
    const ended = once(first[0]!.res, "close");
    first[0]?.end();
    await Promise.all([ended, waits, later]);
  });
});
