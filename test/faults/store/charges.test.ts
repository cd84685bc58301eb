import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { Answer } from "../../support/client.ts";
import { startMongo, type TestServer } from "../../support/servers.ts";
import type { TestAccount } from "../../support/service.ts";
import { useAccount, useOwnService } from "../../support/use-service.ts";
import { type Network, startNetwork } from "./network.ts";

const STORE_TIMEOUT_MS = 1_000;
/** Enough for four attempts that each wait for the store, and then for their Retry-After. */
const OUTAGE_MS = 10_000;
const MAX_CHARGES = 3;
const RECOVERY_MS = 2_000;
/** Tolerance for a busy test machine. */
const LATE_MS = 1_000;

/** The names of the driver's write commands, as BSON encodes them. */
const WRITES = ["insert", "update", "delete", "findAndModify"].map((name) => `\u0002${name}\u0000`);

/** Sends one request. */
type Send = () => Promise<Answer>;

describe("what an outage of MongoDB charges", function () {
  this.timeout(60_000);
  let mongo: TestServer;
  let network: Network;
  before(async () => {
    mongo = await startMongo();
    network = await startNetwork(mongo.port);
  });
  const service = useOwnService(() => ({
    MONGODB_URL: `mongodb://127.0.0.1:${network.port}/charges`,
    STORE_TIMEOUT_MS,
  }));
  after(async () => {
    network.close();
    await mongo.stop();
  });
  const account = useAccount(service);
  let path: string;
  beforeEach(async () => {
    path = `/candidates/${(await account.client.post("/candidates", {})).body.id}`;
  });

  const start = ({ client }: TestAccount) => client.post(`${path}/start`, {});
  const read = ({ client }: TestAccount) => client.get(path);
  const list = ({ client }: TestAccount) => client.get("/candidates");

  /** Repeats a request as Retry-After says, until the time is over. Returns the number of 503s. */
  async function refusedUntil(end: number, send: Send): Promise<number> {
    for (let refused = 0; ; refused++) {
      const { status, headers } = await send();
      if (status !== 503) throw new Error(`The outage was not felt: ${status}`);
      const waitMs = Number(headers.get("retry-after")) * 1_000;
      expect(waitMs).to.be.above(0);
      if (performance.now() + waitMs > end) return refused + 1;
      await setTimeout(waitMs);
    }
  }

  /** Returns the milliseconds until a request is served. */
  async function recovered(send: Send): Promise<number> {
    const began = performance.now();
    while ((await send()).status !== 200) await setTimeout(20);
    return performance.now() - began;
  }

  const OUTAGES = [
    { outage: "does not answer", begin: async () => mongo.pause(), end: async () => mongo.resume(), reads: false },
    { outage: "is gone", begin: () => mongo.kill(), end: () => mongo.restart(), reads: false },
    {
      outage: "takes no writes",
      begin: async () => void (network.holds = (data) => WRITES.some((write) => data.includes(write))),
      end: async () => letThrough(),
      reads: true,
    },
  ];
  for (const { outage, begin, end, reads } of OUTAGES) {
    it(`is at most ${MAX_CHARGES} requests of a surface, and ends within two seconds: MongoDB ${outage}`, async () => {
      await begin();
      try {
        const over = performance.now() + OUTAGE_MS;
        const senders = reads ? [start] : [start, read, list];
        await Promise.all(senders.map((send) => refusedUntil(over, () => send(account))));
        const { start: starts = 0, reads: gets = 0, list: lists = 0 } = await account.used();
        expect(Math.max(starts, gets, lists), `${starts} start, ${gets} reads, ${lists} list`).to.be.at.most(
          MAX_CHARGES,
        );
        for (const path of ["/limits", "/openapi.json"]) expect((await account.client.get(path)).status).to.equal(200);
        if (reads) expect((await read(account)).status, "a read, while only writes fail").to.equal(200);
      } finally {
        await end();
      }
      expect(await recovered(() => start(account))).to.be.below(RECOVERY_MS + LATE_MS);
    });
  }

  it("closes the store for no other account if the operations of one fail", async () => {
    const other = await service.account();
    await read(other); // the key is known
    network.holds = (data) => data.includes(account.id) && data.includes("candidates");
    try {
      const failing = Array.from({ length: 6 }, async () => (await list(account)).status);
      const statuses: number[] = [];
      let isOver = false;
      const asking = (async () => {
        for (; !isOver; await setTimeout(40)) statuses.push((await list(other)).status);
      })();
      expect(new Set(await Promise.all(failing))).to.deep.equal(new Set([503]));
      expect((await list(account)).status, "and again, charged: the store answers").to.equal(503);
      isOver = true;
      await asking;
      expect(new Set(statuses)).to.deep.equal(new Set([200]));
      expect((await account.used()).list).to.equal(7);
    } finally {
      letThrough();
    }
  });

  function letThrough(): void {
    network.holds = () => false;
    network.release();
  }
});
