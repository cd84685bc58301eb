import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { expect } from "chai";
import { connectRedis } from "../../src/infra/redis.ts";
import { useStarted } from "../support/use-started.ts";

/** A server that replies to every command with OK, and INFO with its version. */
async function redisOfVersion(version: string) {
  const info = `redis_version:${version}\r\nloading:0\r\n`;
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (data) => {
      // A command is an array; its name comes after the length of the array and its own length.
      for (const [, name = ""] of String(data).matchAll(/\*\d+\r\n\$\d+\r\n(\w+)\r\n/g))
        socket.write(name.toLowerCase() === "info" ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n");
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, close: () => server.close() };
}

describe("the version of Redis", () => {
  for (const [version, fault] of [
    ["6.2.14", /Redis 7\.0 or later is required, but the server has 6\.2/],
    ["7.0.0", undefined],
  ] as const) {
    describe(version, () => {
      const server = useStarted(
        "The server",
        () => redisOfVersion(version),
        (started) => started.close(),
      );

      it(fault === undefined ? "is accepted" : "is refused at the start", async () => {
        const url = `redis://127.0.0.1:${server.port}`;
        const connected = await connectRedis({ url, timeoutMs: 1_000 }).catch((error: unknown) => String(error));
        if (typeof connected !== "string") connected.disconnect();
        if (fault === undefined) expect(connected).not.to.be.a("string");
        else expect(connected).to.match(fault);
      });
    });
  }
});
