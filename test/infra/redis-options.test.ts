import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import type { Cluster, Redis } from "ioredis";
import { expect } from "chai";
import { createClient, type RedisClient } from "../../src/infra/redis.ts";
import { parseRedisUrl } from "../../src/infra/redis-url.ts";

/** The first byte of a TLS handshake. */
const TLS = 0x16;

describe("A client of Redis", () => {
  let server: Server;
  let client: RedisClient | undefined;
  const sockets = new Set<Socket>();
  beforeEach(async () => {
    server = createServer((socket) => sockets.add(socket.on("error", () => undefined))).listen(0, "localhost");
    await once(server, "listening");
  });
  afterEach(() => {
    client?.disconnect();
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    server.close();
  });

  /** Creates a client for this URL, in which HERE is the address of the server. */
  function created(url: string, timeoutMs = 100): RedisClient {
    const here = `localhost:${(server.address() as AddressInfo).port}`;
    client = createClient(parseRedisUrl(url.replace("HERE", here)), timeoutMs);
    return client.on("error", () => undefined);
  }

  /** Returns the first bytes that the client sends. */
  async function greeting(url: string): Promise<Buffer> {
    const connected = once(server, "connection") as Promise<[Socket]>;
    created(url);
    const [bytes] = (await once((await connected)[0], "data")) as [Buffer];
    return bytes;
  }

  for (const [form, rest] of [
    ["redis", ""],
    ["redis+sentinel", "/limits"],
    ["redis+cluster", ""],
  ] as const) {
    it(`speaks TLS with ${form.replace("redis", "rediss")}://, and not with ${form}://`, async () => {
      const secret = await greeting(`${form.replace("redis", "rediss")}://HERE${rest}`);
      expect(secret[0]).to.equal(TLS);
      client?.disconnect();
      const open = await greeting(`${form}://HERE${rest}`);
      expect(open.toString()).to.match(/^\*\d+\r\n/);
    });
  }

  it("takes the servers that Sentinels name over TLS if it asks the Sentinels so, and each with its own user", () => {
    const users = { sentinelUsername: "sen", sentinelPassword: "two", username: "ann", password: "one" };
    const url = "://ann:one@HERE/limits/3?sentinelUsername=sen&sentinelPassword=two";
    const { options: secret } = created(`rediss+sentinel${url}`) as Redis;
    expect(secret).to.deep.include({ ...users, name: "limits", db: 3, tls: {}, sentinelTLS: {} });
    expect(secret).to.include({ enableTLSForSentinelMode: true });
    client?.disconnect();
    const { options: open } = created("redis+sentinel://HERE/limits") as Redis;
    expect([open.tls, open.sentinelTLS, open.username, open.password].filter(Boolean)).to.deep.equal([]);
    expect([open.sentinelUsername, open.sentinelPassword].filter(Boolean)).to.deep.equal([]);
    expect(open.enableTLSForSentinelMode).to.equal(false);
    expect(open).to.include({ db: 0, failoverDetector: true });
  });

  it("takes every node of a cluster over TLS, or none, and asks masters only", () => {
    const { options: secret } = created("rediss+cluster://ann:one@HERE") as Cluster;
    expect(secret.redisOptions).to.deep.include({ tls: {}, username: "ann", password: "one" });
    const looked: unknown[] = [];
    secret.dnsLookup?.("node.example", (...found) => looked.push(...found));
    expect(looked, "the name that its certificate must have").to.deep.equal([null, "node.example"]);
    client?.disconnect();
    const { options: open } = created("redis+cluster://HERE") as Cluster;
    expect(open.redisOptions).not.to.have.any.keys("tls", "username", "password");
    expect(open).to.include({ scaleReads: "master", retryDelayOnFailover: 0, enableOfflineQueue: false });
  });

  for (const [timeoutMs, silenceMs] of [
    [100, 1_000],
    [1_500, 1_500],
  ] as const) {
    it(`closes a connection of a server that is silent for ${silenceMs} ms, if the limiter waits ${timeoutMs} ms`, async () => {
      const connected = once(server, "connection") as Promise<[Socket]>;
      created("redis://HERE", timeoutMs);
      const [socket] = await connected;
      const began = performance.now();
      await once(socket.resume(), "close");
      expect(performance.now() - began).to.be.within(silenceMs - 50, silenceMs + 450);
    });
  }

  for (const url of ["redis://HERE", "redis+sentinel://HERE/limits", "redis+cluster://HERE"]) {
    /** The options of each connection. */
    const options = () => {
      const made = created(url);
      return made.isCluster ? (made as Cluster).options.redisOptions : (made as Redis).options;
    };

    it(`never sends a command twice, and tells its name, with ${url.split(":")[0]}://`, () => {
      const once = { autoResendUnfulfilledCommands: false, maxRetriesPerRequest: 0, enableAutoPipelining: false };
      expect(options()).to.include({ ...once, connectionName: "candidate-onboarding-service" });
      expect(client?.options).to.include({ enableOfflineQueue: false });
    });

    it(`looks for the new master if the old one has become a replica, with ${url.split(":")[0]}://`, () => {
      const reconnects = (message: string) => options()?.reconnectOnError?.(new Error(message));
      expect(reconnects("READONLY You can't write against a read only replica.")).to.equal(true);
      client?.disconnect();
      expect(reconnects("ERR the replica is READONLY")).to.equal(false);
    });
  }
});
