import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { request } from "undici";
import type { Body } from "../support/client.ts";
import { createCopies } from "../support/copies.ts";
import { type Service, startService, type TestAccount } from "../support/service.ts";
import { inCoding, rawSender, type Send } from "./raw.ts";

const PAGE = "/candidates?limit=1000";

describe("compression of a page of 1,000 candidates with 5 documents and 3 references each", function () {
  this.timeout(60_000);
  let service: Service;
  let account: TestAccount;
  let send: Send;
  let stopped: Promise<void> | undefined;

  before(async () => {
    service = await startService({ LIMIT_SCALE: 100 });
    account = await service.account();
    send = rawSender(service, account);
    await createCopies(service.operators, account.client, { count: 1_000 });
  });
  after(() => stopped ?? service.stopAtOnce());

  const rows = (text: string) => (JSON.parse(text) as Body).data; // the cursor follows the clock

  /** Asks for the page eight times at once, calls `halfway` when the first response begins, and returns all responses. */
  async function eightTimes(halfway: () => void, signal?: AbortSignal) {
    const options = {
      headers: { Authorization: `Bearer ${account.key}`, ...inCoding("gzip") },
      signal: signal ?? null,
    };
    const responses = Array.from({ length: 8 }, async () => {
      const response = await request(service.url + PAGE, options);
      return { status: response.statusCode, headers: response.headers, bytes: await response.body.bytes() };
    });
    await Promise.race(responses);
    halfway();
    return await Promise.allSettled(responses);
  }

  it("makes it 250 kB or less", async () => {
    const plain = await send("GET", PAGE);
    expect(plain.bytes.length).to.be.above(3_000_000);
    for (const coding of ["br", "gzip"] as const) {
      const { bytes, text } = await send("GET", PAGE, inCoding(coding));
      expect(rows(text)).to.deep.equal(rows(plain.text));
      expect(bytes.length, coding).to.be.below(coding === "br" ? 220_000 : 250_000);
    }
  });

  it("does no harm if clients leave meanwhile", async () => {
    const logged = service.log.length;
    const leaving = new AbortController();
    const responses = await eightTimes(() => leaving.abort(), leaving.signal);
    expect(responses.filter(({ status }) => status === "rejected")).not.to.have.length(0);
    expect((await send("GET", PAGE, inCoding("gzip"))).status).to.equal(200);
    expect(service.log.slice(logged).filter(({ level }) => Number(level) >= 50)).to.deep.equal([]);
  });

  it("is completed if the service stops meanwhile", async () => {
    const responses = await eightTimes(() => void (stopped = service.stop()));
    for (const response of responses) {
      if (response.status === "rejected") throw response.reason;
      expect(response.value).to.have.property("status", 200);
      expect(rows(gunzipSync(response.value.bytes).toString())).to.have.length(1_000);
    }
    await stopped;
  });
});
