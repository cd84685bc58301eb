import type { ServerResponse } from "node:http";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { RateLimitError } from "../../src/client/index.ts";
import { KnownLimits } from "../../src/client/limits.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, sentTooEarly, useGateway } from "./support.ts";

/** Changes of settings that one key may make in a window. */
const SETTINGS = 20;

describe("the client, at a limit that ends soon", () => {
  const service = useService({ LIMIT_WINDOW_SECONDS: 3 });
  const account = useAccount(service);

  it("waits out Retry-After, and sends nothing for this surface before it ends", async () => {
    const { client, sent } = recorded({ baseUrl: service.url, apiKey: account.key });
    const names = Array.from({ length: 2 * SETTINGS + 5 }, (_, n) => `${n}`);
    const changed = await Promise.all(names.map((name) => client.changeAssistantSettings({ display_name: name })));
    expect(changed.map(({ display_name }) => display_name)).to.deep.equal(names);
    const refused = sent.filter(({ answered }) => answered?.status === 429);
    expect(refused, "the key was refused").not.to.have.length(0);
    expect(sentTooEarly(sent)).to.equal(0);
  });

  it("brings more rows in line than a window has creates: it sends what is left, and waits", async () => {
    const { client, sent } = recorded({ baseUrl: service.url, apiKey: account.key });
    await client.createCandidate({});
    const rows = Array.from({ length: 150 }, (_, n) => ({ external_id: `row-${n}` }));
    expect(await client.sync(rows, { key: "external_id" })).to.include({ created: 150 });
    const granted = sent.filter(({ answered }) => answered?.status === 200).map(({ url }) => new URL(url).searchParams);
    expect(granted.flatMap((query) => query.get("count") ?? [])).to.deep.equal(["99", "51"]);
  });
});

describe("the client, at a limit that lasts", () => {
  const service = useService();
  const account = useAccount(service);

  it("throws what Retry-After, surface and scope are, and does not ask again", async () => {
    const { client, sent } = recorded({ baseUrl: service.url, apiKey: account.key });
    for (let n = 0; n < SETTINGS; n++) await client.changeAssistantSettings({});
    const error = await errorOf(client.changeAssistantSettings({}));
    if (!(error instanceof RateLimitError)) throw error;
    expect(error).to.include({ status: 429, code: "rate_limited", surface: "settings", scope: "key" });
    expect(error.retryAfter).to.equal(sent.at(-1)?.answered?.retryAfter).and.to.be.above(60);
    expect(error.message).to.match(/^Too many requests/);
    const again = await errorOf(client.changeQuietHours({}));
    if (!(again instanceof RateLimitError)) throw again;
    expect(again).to.include({ surface: "settings", scope: "key", requestId: error.requestId });
    expect(again.retryAfter).to.be.within(error.retryAfter - 10, error.retryAfter);
    expect(sent, "the second refusal came without a request").to.have.length(SETTINGS + 1);
    await client.readAssistantSettings(); // another surface
  });
});

describe("what the client knows of a limit", () => {
  const refusalOf = (seconds: number) => new RateLimitError({ code: "rate_limited" }, undefined, seconds);

  it("is the longest of the waits that it was given, whatever the order of the responses", () => {
    const limits = new KnownLimits(false);
    for (const seconds of [100, 5]) limits.hold("reads", refusalOf(seconds));
    expect(limits.refusal("reads")?.retryAfter).to.be.within(90, 100);
    expect(limits.refusal("writes")).to.equal(undefined);
  });
});

describe("the client with pacing", () => {
  const gateway = useGateway();
  /** Answers as a service would whose key had `left` of 10 requests, for so many seconds. */
  function offer(left: number, seconds: number): void {
    gateway.answer = (_, response) => answerWith(left, seconds, response);
  }
  function answerWith(left: number, seconds: number, response: ServerResponse | undefined): void {
    response?.setHeader("RateLimit-Policy", `"account-reads";q=20;w=3600, "key-reads";q=10;w=3600`);
    response?.setHeader("RateLimit", `"account-reads";r=20;t=${seconds}, "key-reads";r=${left};t=${seconds}`).end("{}");
  }
  /** Sends three requests. @returns how long after the first response the second and third were sent, in milliseconds. */
  const turns = async (pacing: boolean, maxWait?: number): Promise<[number, number]> => {
    const options = { baseUrl: gateway.url, apiKey: "k", pacing, ...(maxWait === undefined ? {} : { maxWait }) };
    const { client, sent } = recorded(options);
    for (let n = 0; n < 3; n++) await client.readCandidate("cand_1");
    const [second = 0, third = 0] = sent.slice(1).map(({ at }) => at - (sent[0]?.answered?.at ?? 0));
    return [second, third];
  };

  it("spreads its calls over the rest of the window once less than half of a limit is left", async () => {
    offer(4, 2); // so one each half second
    const [second, third] = await turns(true);
    // A timer may be 1 ms early. A request that was late takes nothing from the turn of the next.
    expect(second).to.be.within(499, 1_500);
    expect(third).to.be.within(998, 2_000);
  });

  it("waits no longer than maxWait for its turn", async () => {
    offer(1, 3600);
    const [second, third] = await turns(true, 0.6);
    for (const gap of [second, third - second]) expect(gap).to.be.within(599, 2_000);
  });

  it("waits as the problem says if nobody may read Retry-After", async () => {
    gateway.answer = (_, response) =>
      void (sent.length === 1
        ? response.writeHead(429).end(JSON.stringify({ code: "rate_limited", retry_after: 2 }))
        : response.end("{}"));
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    await client.readCandidate("cand_1");
    expect((sent[1]?.at ?? 0) - (sent[0]?.at ?? 0)).to.be.at.least(2000);
  });

  it("sends nothing before a Retry-After ends although its problem breaks off, or another call is on its way", async () => {
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    gateway.answer = (_, response) => {
      if (sent.length > 1) response.end("{}");
      else {
        response.writeHead(429, { "retry-after": "1", "content-length": "100" }).write("{");
        void setTimeout(300).then(() => response.destroy());
      }
    };
    const first = client.readCandidate("cand_1");
    while (sent[0]?.answered === undefined) await setTimeout(5);
    await Promise.all([first, client.readCandidate("cand_2"), client.readCandidate("cand_3")]);
    expect(sent).to.have.length(4);
    expect(sentTooEarly(sent)).to.equal(0);
  });

  it("holds all calls of a surface that is refused for the address, also those that count against no limit", async () => {
    const { client, sent } = recorded({ baseUrl: gateway.url, apiKey: "k" });
    gateway.answer = (_, response) =>
      void (sent.length === 1
        ? response
            .writeHead(429, { "retry-after": "1" })
            .end(JSON.stringify({ code: "rate_limited", scope: "address" }))
        : response.end("{}"));
    const first = client.readLimits();
    while (sent[0]?.answered === undefined) await setTimeout(5);
    await Promise.all([first, client.readLimits()]);
    expect(sent).to.have.length(3);
    expect(sentTooEarly(sent)).to.equal(0);
  });
});
