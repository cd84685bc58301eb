import { EventEmitter, once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { endpoint, route } from "../../src/api/endpoint.ts";
import { mount, type MountOptions } from "../../src/api/mount.ts";
import type { ApiState } from "../../src/api/admit.ts";

/** Admits every request. */
const OPTIONS = {
  authenticator: { authenticate: () => ({ accountId: "acct_1", keyId: "key_1" }) },
  limiter: { readUsage: () => Promise.resolve({}) },
  counter: { note: () => undefined, count: () => undefined },
  restore: { signal: new AbortController().signal },
  newId: () => "req_1",
  bodyTimeoutMs: 60_000,
  maxFileBytes: 100,
} as unknown as MountOptions;

describe("the signal of a client that left", () => {
  it("is aborted at once if a handler asks for it after the connection has closed", async () => {
    const steps = new EventEmitter();
    const [begun, closed, asked] = ["begun", "closed", "asked"].map((step) => once(steps, step));
    const slow = endpoint({
      name: "waitLong",
      tag: "Candidates",
      summary: "Wait long",
      description: "It waits long.",
      status: 204,
      problems: [],
      async handle({ clientLeft }) {
        steps.emit("begun");
        await closed;
        steps.emit("asked", clientLeft().aborted);
        return undefined;
      },
    });
    const app = new Koa<ApiState>();
    app.use((ctx, next) => {
      ctx.res.once("close", () => steps.emit("closed"));
      return next();
    });
    app.use(mount([route("GET", "/slow", "free", slow)], OPTIONS).routes());
    const handle = app.callback();
    const server = createServer((req, res) => void handle(req, res)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const sent = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", path: "/slow" });
    sent.on("error", () => undefined);
    try {
      await begun;
      sent.destroy();
      expect(await asked).to.deep.equal([true]);
    } finally {
      server.close();
    }
  });
});
