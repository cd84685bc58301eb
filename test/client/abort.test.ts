import { getEventListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import type { OnboardingClient } from "../../src/client/index.ts";
import { useProxy } from "../limiter/proxy.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { errorOf, recorded, type Sent } from "./support.ts";

describe("a call of the client ends when its signal aborts", () => {
  const service = useService();
  const proxy = useProxy(service);
  const account = useAccount(service);
  const reason = new Error("no longer wanted");
  let abort: AbortController;
  let client: OnboardingClient;
  let sent: Sent[];
  beforeEach(() => {
    proxy.mend();
    abort = new AbortController();
    ({ client, sent } = recorded({
      baseUrl: `http://127.0.0.1:${proxy.port}`,
      apiKey: account.key,
      maxWait: Infinity,
    }));
  });

  /** Aborts once `ready` holds, and expects that the call then fails with the signal's reason. */
  async function aborts(call: Promise<unknown>, ready: () => boolean | Promise<boolean>): Promise<void> {
    const failed = errorOf(call);
    while (!(await ready())) await setTimeout(5);
    abort.abort(reason);
    expect(await failed).to.equal(reason);
  }

  it("before anything is sent", async () => {
    abort.abort(reason);
    expect(await errorOf(client.readLimits({ signal: abort.signal }))).to.equal(reason);
    expect(sent).to.deep.equal([]);
  });

  it("while it waits for the response", async () => {
    proxy.swallow("toServer");
    await aborts(client.readLimits({ signal: abort.signal }), () => sent.length === 1);
    expect(sent).to.have.length(1);
  });

  it("while it reads the response", async () => {
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(id, { name: "scan" });
    await client.putDocumentContent(id, document.id, new Uint8Array(8 * 2 ** 20));
    const { body } = await client.readDocumentContent(id, document.id, { signal: abort.signal });
    await aborts(new Response(body).arrayBuffer(), () => {
      proxy.swallow("toClient");
      return true;
    });
  });

  it("before a retry", async () => {
    proxy.refuse();
    await aborts(client.readLimits({ signal: abort.signal }), () => sent.length === 3);
  });

  it("while it waits for a limit", async () => {
    for (let n = 0; n < 20; n++) await client.changeQuietHours({});
    await aborts(client.changeQuietHours({}, { signal: abort.signal }), () => sent.at(-1)?.answered?.status === 429);
    expect(sent).to.have.length(21);
  });

  it("while it uploads", async () => {
    const { id } = await client.createCandidate({});
    const document = await client.addDocument(id, { name: "scan" });
    let chunks = 0;
    let closed = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (; ; chunks++) {
          yield new Uint8Array(1_000);
          await setTimeout(1);
        }
      } finally {
        closed = true;
      }
    }
    const upload = client.putDocumentContent(id, document.id, endless(), { signal: abort.signal });
    await aborts(upload, () => chunks > 10);
    while (!closed) await setTimeout(5); // the source is told to stop
    expect((await account.client.get(`/candidates/${id}/documents/${document.id}`)).body.state).to.equal("pending");
  });

  it("while a mirror waits for changes", async () => {
    const mirror = client.mirror({ every: 3600, signal: abort.signal });
    let pages = 0;
    const following = (async () => {
      for await (const page of mirror.pages()) pages += page.rows.length + 1;
    })();
    await aborts(following, () => pages === 1 && mirror.cursor !== undefined);
  });

  it("and leaves nothing at the signal when it ends without that", async () => {
    proxy.loseAnswer = true; // so that it also waits
    await client.readLimits({ signal: abort.signal });
    expect(sent).to.have.length(2);
    expect(getEventListeners(abort.signal, "abort")).to.deep.equal([]);
  });

  it("if it is the signal of the whole client", async () => {
    const own = recorded({ baseUrl: service.url, apiKey: account.key, signal: abort.signal });
    await own.client.readLimits();
    abort.abort(reason);
    expect(await errorOf(own.client.readLimits())).to.equal(reason);
    expect(own.sent).to.have.length(1);
  });
});
