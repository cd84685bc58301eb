import { once } from "node:events";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import { expect } from "chai";
import { compiled } from "../../support/compiled.ts";
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
  "Accept-Language": "a,".repeat(7_750),
  "Accept-Encoding": ",".repeat(15_500),
};

describe("one connection", function () {
  this.timeout(120_000);
  let fleet: Fleet;
  let key: string;
  before(async () => {
    // As `npm run build` does.
    const pages = join(dirname(await compiled("main.ts")), "pages.bin");
    await promisify(execFile)(process.execPath, ["--import", "tsx", "src/site/render/main.ts", pages]);
    fleet = await startFleet(1, { LOG_LEVEL: "warn" }, { environments: [WATCHED] });
    const { id } = await fleet.operators.accounts.createAccount({ name: "Test" });
    key = (await fleet.operators.accounts.createKey({ accountId: id, name: "test" })).key;
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

  /** Sends it at once. @returns the first status line, once the connection is closed. */
  async function sendWhole(text: string): Promise<string> {
    const socket = connect(Number(new URL(fleet.url).port), "127.0.0.1");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    let received = "";
    socket.setEncoding("latin1").on("data", (data: string) => (received ||= data));
    socket.write(text);
    await new Promise((resolve) => socket.once("close", resolve));
    return received.split("\r\n", 1)[0] ?? "";
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
    for (let grown = true; grown;) {
      await wait(2_000);
      const growth = megabytes() - before;
      grown = growth > largest;
      largest = Math.max(largest, growth);
    }
    expect(largest).to.be.below(MAX_GROWTH_MB);
  });

  for (const [name, value] of Object.entries(HEADERS))
    for (const [path, status] of [
      ["/docs/nothing", 404],
      ["/u/nothing", 404],
      ["/openapi.json", 200],
    ] as const)
      it(`never holds the event loop for ${BOUND_MS / 10} ms with the longest ${name} for ${path}`, async () => {
        const request = `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${name}: ${value}\r\n\r\n`;
        const answered = async () => expect(await sendWhole(request)).to.match(new RegExp(` (${status}|429) `));
        expect(await least(answered)).to.be.below(BOUND_MS / 10);
      });

  it(`never holds the event loop for ${BOUND_MS} ms with a body in chunks of one byte that nobody asked for`, async () => {
    const body = "1\r\n \r\n".repeat(1_000_000);
    const request = `POST /x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    expect(await least(() => sendWhole(request))).to.be.below(BOUND_MS);
  });

  it(`never holds the event loop for ${BOUND_MS / 10} ms with the longest Content-Type`, async () => {
    const type = `application/a${" ".repeat(15_500)}b`;
    const request = `POST /candidates HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: ${type}\r\nContent-Length: 2\r\n\r\n{}`;
    const answered = async () => expect(await sendWhole(request)).to.contain(" 415 ");
    expect(await least(answered)).to.be.below(BOUND_MS / 10);
  });

  it(`never holds the event loop for ${BOUND_MS} ms with JSON in chunks of one byte`, async () => {
    const body = "1\r\n \r\n".repeat(1_000_000);
    const request = `POST /candidates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
    const answered = async () => expect(await sendWhole(request)).to.contain(" 400 ");
    expect(await least(answered)).to.be.below(BOUND_MS);
  });
});
