import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useOwnService } from "../support/use-service.ts";
import { type Behaviour, repeat, useHostileReceiver } from "./hostile-receiver.ts";
import { createWebhook, deliveryOf, testDelivery } from "./support.ts";

const OK = "HTTP/1.1 200 OK\r\n";
/** In everything that a receiver answers. */
const MARKER = "marker-5b1f";
const TEN_MB = 10 * 1024 * 1024;

const answer =
  (status: number, more = ""): Behaviour =>
  (socket) =>
    void socket.end(`HTTP/1.1 ${status} ${MARKER}\r\nX-${MARKER}: ${MARKER}\r\nContent-Length: 0\r\n${more}\r\n`);

/** What a receiver does, and what last_delivery then says. */
const BEHAVIOURS: Readonly<Record<string, [does: Behaviour, status: number | null, error: string | null]>> = {
  ...Object.fromEntries(
    [301, 302, 303, 307, 308].map((status) => [
      `/redirect-${status}`,
      [(socket, path) => answer(status, `Location: ${path}/followed\r\n`)(socket, path), status, null],
    ]),
  ),
  "/error": [answer(500), 500, null],
  "/unauthorized": [answer(401, "WWW-Authenticate: Basic\r\n"), 401, null],
  "/odd-status": [answer(999), 999, null],
  "/switching": [answer(101, "Upgrade: x\r\nConnection: upgrade\r\n"), null, "connection"],
  "/continue": [(socket) => repeat(socket, "", "HTTP/1.1 100 Continue\r\n\r\n"), null, "connection"],
  "/cookies": [answer(204, `Set-Cookie: ${MARKER}=1; Domain=127.0.0.1\r\n`), 204, null],
  "/bytes": [(socket) => void socket.end(`${OK}Content-Length: 20000\r\n\r\n${MARKER.repeat(1_000)}`), 200, null],
  "/large": [(socket) => repeat(socket, `${OK}Content-Length: ${TEN_MB}\r\n\r\n`, MARKER.repeat(1_000)), 200, null],
  "/endless-body": [(socket) => repeat(socket, `${OK}\r\n`, MARKER.repeat(1_000)), 200, null],
  "/endless-chunks": [
    (socket) => repeat(socket, `${OK}Transfer-Encoding: chunked\r\n\r\n`, `400\r\n${"x".repeat(1_024)}\r\n`),
    200,
    null,
  ],
  "/many-headers": [(socket) => repeat(socket, OK, `X-${MARKER}: ${MARKER}\r\n`.repeat(100)), null, "connection"],
  "/long-header": [(socket) => repeat(socket, `${OK}X: `, MARKER.repeat(1_000)), null, "connection"],
  "/endless-status": [(socket) => repeat(socket, "HTTP/1.1 200 ", MARKER.repeat(1_000)), null, "connection"],
  "/closes": [(socket) => void socket.end(), null, "connection"],
  "/resets": [(socket) => void socket.resetAndDestroy(), null, "connection"],
  "/half": [(socket) => void socket.end(`${OK}X-Half`), null, "connection"],
  "/garbage": [(socket) => void socket.end(`<html>${MARKER}</html>`), null, "connection"],
  "/smuggled": [
    (socket) => void socket.end(`${OK}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
    null,
    "connection",
  ],
  "/two": [(socket) => void socket.end(`${OK}Content-Length: 0\r\n\r\n`.repeat(3)), 200, null],
  "/bomb": [
    (socket) => {
      const bomb = gzipSync(Buffer.alloc(TEN_MB));
      socket.end(
        Buffer.concat([Buffer.from(`${OK}Content-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`), bomb]),
      );
    },
    200,
    null,
  ],
  "/drips-body": [(socket) => repeat(socket, `${OK}\r\n`, "x".repeat(256), 50), 200, null],
  "/trickle": [(socket) => repeat(socket, `${OK}Content-Length: 1000\r\n\r\n`, "x", 500), 200, null],
  "/drips-headers": [(socket) => repeat(socket, OK, "X: y\r\n", 500), null, "timeout"],
  "/informs": [(socket) => repeat(socket, "", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", 100), null, "timeout"],
  "/floods": [
    (socket) => repeat(socket, "", `HTTP/1.1 103 Early Hints\r\nLink: </${"x".repeat(1_000)}>\r\n\r\n`),
    null,
    "connection",
  ],
  "/hangs": [() => undefined, null, "timeout"],
};

describe("a hostile receiver", function () {
  this.timeout(60_000);
  const service = useOwnService({ LIMIT_SCALE: 1_000 });
  const receiver = useHostileReceiver(
    Object.fromEntries(Object.entries(BEHAVIOURS).map(([path, [does]]) => [path, does] as const)),
  );
  const outcomes = new Map<string, { status: number | null; error: string | null }>();
  let shown = "";

  before(async () => {
    const one = async (path: string) => {
      const { client } = await service.account();
      const { status, error } = await testDelivery(client, receiver.origin + path);
      outcomes.set(path, { status, error });
      shown += JSON.stringify((await client.get("/webhooks")).body);
    };
    await Promise.all(Object.keys(BEHAVIOURS).map(one));
  });

  for (const [path, [, status, error]] of Object.entries(BEHAVIOURS))
    it(`is given no more than it may have: ${path.slice(1)}`, async () => {
      expect(outcomes.get(path)).to.deep.equal({ status, error });
      const { openMs } = await receiver.closed(path);
      if (error === "timeout" || path === "/trickle") expect(openMs).to.be.within(10_000, 17_000);
      else expect(openMs).to.be.below(10_000);
      expect(
        receiver.asked.filter((asked) => asked.startsWith(path)),
        "no retry, nothing followed",
      ).to.deep.equal([path]);
    });

  it("is read from until about 1 KiB of the body has come, and then no more", async () => {
    expect((await receiver.closed("/drips-body")).sent).to.be.within(1_000, 4_096);
    for (const path of ["/large", "/endless-body", "/endless-chunks", "/many-headers", "/endless-status"])
      expect((await receiver.closed(path)).sent, path).to.be.below(TEN_MB); // what the kernel holds of it included
  });

  it("leaves nothing of its answer in the database, the log, the metrics or the API", async () => {
    const { db } = service.operators.mongo;
    for (const { name } of await db.listCollections().toArray())
      shown += JSON.stringify(await db.collection(name).find().toArray());
    shown += JSON.stringify(service.log) + JSON.stringify(await scrape(service));
    expect(shown).to.include("wh_").and.not.include(MARKER);
  });

  it("does not keep the next nudge from its own webhook", async () => {
    const { client } = await service.account();
    const { path } = await createWebhook(client, { url: `${receiver.origin}/cookies` });
    await client.post(`${path}/test`);
    expect(await deliveryOf(client, path)).to.include({ status: 204 });
  });
});
