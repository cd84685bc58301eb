import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { type Held, heldDuring, WATCHED } from "./watcher.ts";

/** The longest time that one connection may hold the event loop, in milliseconds. */
const BOUND_MS = 50;
/** The least disturbed of so many runs counts. */
const RUNS = 10;
/** Node reads so many bytes at once. */
const CHUNK = 64 * 1024;

/** Connections that read nothing, and how much memory they may take together. */
const UNREAD = 120;
const MAX_GROWTH_MB = 150;

const CHUNKS = {
  "requests for the contract": "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n",
  "paths that do not exist": "GET /x HTTP/1.1\r\nHost: x\r\n\r\n",
  "requests with a wrong key": "GET /candidates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n",
};
const HEADERS = {
  Accept: `"${",".repeat(15_500)}`,
  "Accept-Language": ",".repeat(15_500),
  "Accept-Encoding": ",".repeat(15_500),
};

describe("one connection", function () {
  this.timeout(120_000);
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet(1, { LOG_LEVEL: "warn" }, { environments: [WATCHED] });
  });
  after(() => fleet.stop());

  /** Returns the least disturbed of some runs. A delay that is longer than the CPU time of the thread is the machine's. */
  async function least(run: () => Promise<unknown>): Promise<number> {
    const lengths: number[] = [];
    for (let n = 0; n < RUNS; n++) {
      const { delayMs, stretchMs }: Held = await heldDuring(fleet.members[0]!, run);
      lengths.push(Math.min(delayMs, stretchMs));
    }
    return Math.min(...lengths);
  }

  async function sendWhole(text: string): Promise<void> {
    const socket = connect(Number(new URL(fleet.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    socket.resume();
    socket.write(text);
    await once(socket, "close");
  }

  for (const [what, request] of Object.entries(CHUNKS))
    it(`never holds the event loop for ${BOUND_MS} ms with 64 KiB of ${what}`, async () => {
      const chunk = request.repeat(Math.floor(CHUNK / request.length));
      expect(await least(() => sendWhole(chunk))).to.be.below(BOUND_MS);
    });

  it(`take at most ${MAX_GROWTH_MB} MB together if ${UNREAD} of them send 64 KiB of requests and read nothing`, async () => {
    const { child } = fleet.members[0]!;
    const megabytes = () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]) / 1024;
    const request = CHUNKS["requests for the contract"];
    const before = megabytes();
    let largest = 0;
    for (let n = 0; n < UNREAD; n++) {
      const socket = connect(Number(new URL(fleet.url).port), "127.0.0.1");
      socket.on("error", () => undefined);
      await once(socket, "connect");
      socket.write(request.repeat(n % 2 === 0 ? Math.floor(CHUNK / request.length) : 16)); // the most, and the most allowed
      await wait(50);
      largest = Math.max(largest, megabytes() - before);
    }
    expect(largest).to.be.below(MAX_GROWTH_MB);
  });

  for (const [name, value] of Object.entries(HEADERS))
    for (const path of ["/docs/nothing", "/u/nothing", "/openapi.json"])
      it(`never holds the event loop for ${BOUND_MS / 10} ms with the longest ${name} for ${path}`, async () => {
        const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${name}: ${value}\r\n\r\n`;
        expect(await least(() => sendWhole(request))).to.be.below(BOUND_MS / 10);
      });
});
