import type { Socket } from "node:net";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useOwnService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";
import { testDelivery } from "./support.ts";

/** What is done with the connection of a nudge. */
type Behaviour = (socket: Socket) => void;

const OK = "HTTP/1.1 200 OK\r\n";
/** In everything that a receiver answers. */
const MARKER = "marker-5b1f";

const answer =
  (status: number, more = ""): Behaviour =>
  (socket) =>
    void socket.end(`HTTP/1.1 ${status} ${MARKER}\r\nX-${MARKER}: ${MARKER}\r\nContent-Length: 0\r\n${more}\r\n`);

/** Sends a text, then another one again and again until the connection closes. */
const repeat =
  (first: string, text: string, everyMs = 1): Behaviour =>
  (socket) => {
    socket.write(first);
    const timer = setInterval(() => socket.write(text), everyMs);
    socket.once("close", () => clearInterval(timer));
  };

/** What a receiver does, and what last_delivery then says. */
const BEHAVIOURS: Readonly<Record<string, [does: Behaviour, status: number | null, error: string | null]>> = {
  "/redirect": [answer(307, "Location: /redirect/followed\r\n"), 307, null],
  "/error": [answer(500), 500, null],
  "/cookies": [answer(204, `Set-Cookie: ${MARKER}=1; Domain=127.0.0.1\r\n`), 204, null],
  "/switching": [answer(101, "Upgrade: x\r\nConnection: upgrade\r\n"), null, "connection"],
  "/two": [(socket) => void socket.end(`${OK}Content-Length: 0\r\n\r\n`.repeat(3)), 200, null],
  "/resets": [(socket) => void socket.resetAndDestroy(), null, "connection"],
  "/garbage": [(socket) => void socket.end(`<html>${MARKER}</html>`), null, "connection"],
  "/many-headers": [repeat(OK, `X-${MARKER}: ${MARKER}\r\n`.repeat(100)), null, "connection"],
  "/informs": [repeat("", `HTTP/1.1 103 Early Hints\r\nLink: </${"x".repeat(1_000)}>\r\n\r\n`), null, "connection"],
  "/endless-body": [repeat(`${OK}\r\n`, MARKER.padEnd(256, "x"), 50), 200, null],
  "/slow-body": [repeat(`${OK}Content-Length: 1000\r\n\r\n`, "x", 500), 200, null],
  "/slow-headers": [repeat(OK, "X: y\r\n", 500), null, "timeout"],
  "/hangs": [() => undefined, null, "timeout"],
};

describe("a hostile receiver", function () {
  this.timeout(60_000);
  const service = useOwnService({ LIMIT_SCALE: 1_000 });
  const receiver = useReceiver();
  const outcomes = new Map<string, { status: number | null; error: string | null }>();
  /** How many bytes were sent on a connection, and after how many milliseconds it was closed. */
  const closed = new Map<string, { sent: number; openMs: number }>();
  let shown = "";

  before(async () => {
    const one = async ([path, [does]]: [string, [Behaviour, ...unknown[]]]) => {
      const closing = new Promise<void>((resolve) => {
        receiver.answer(path, ({ socket }, { at }) => {
          if (socket === null) return;
          socket.once("close", () => {
            closed.set(path, { sent: socket.bytesWritten, openMs: performance.now() - at });
            resolve();
          });
          does(socket);
        });
      });
      const { client } = await service.account();
      const { status, error } = await testDelivery(client, receiver.origin + path);
      outcomes.set(path, { status, error });
      shown += JSON.stringify((await client.get("/webhooks")).body);
      await closing;
    };
    await Promise.all(Object.entries(BEHAVIOURS).map(one));
  });

  for (const [path, [, status, error]] of Object.entries(BEHAVIOURS))
    it(`is given no more than it may have: ${path.slice(1)}`, () => {
      expect(outcomes.get(path)).to.deep.equal({ status, error });
      const [from, to] = path === "/slow-body" || error === "timeout" ? [10_000, 17_000] : [0, 10_000];
      expect(closed.get(path)?.openMs).to.be.within(from, to);
      const asked = receiver.received.map((nudge) => nudge.path).filter((each) => each.startsWith(path));
      expect(asked, "no retry, nothing followed").to.deep.equal([path]);
    });

  it("is read from until about 1 KiB of the body has come, and then no more", () => {
    expect(closed.get("/endless-body")?.sent).to.be.within(1_000, 4_096);
  });

  it("leaves nothing of its answer in the database, the log, the metrics or the API", async () => {
    const { db } = service.operators.mongo;
    for (const { name } of await db.listCollections().toArray())
      shown += JSON.stringify(await db.collection(name).find().toArray());
    shown += JSON.stringify(service.log) + JSON.stringify(await scrape(service));
    expect(shown).to.include("wh_").and.not.include(MARKER);
  });
});
