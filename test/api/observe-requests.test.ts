import { once } from "node:events";
import { createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Koa from "koa";
import { observeRequests } from "../../src/api/observe-requests.ts";
import type { ApiState } from "../../src/api/admit.ts";
import { createLog } from "../../src/infra/log.ts";
import { Metrics } from "../../src/infra/metrics.ts";

describe("a response", () => {
  it("closes the connection only while the process shuts down", async () => {
    const draining = { started: false };
    const log = createLog("fatal", { write: () => undefined });
    const app = new Koa<ApiState>().use(
      observeRequests({
        newId: () => "req_1",
        log,
        metrics: new Metrics(),
        trustedProxies: 0,
        draining,
        routes: [],
        logAddress: "full",
      }),
    );
    app.use((ctx) => void (ctx.status = 204));
    const handle = app.callback();
    const server = createServer((req, res) => void handle(req, res)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const connection = async () => {
      const headers = { Connection: "keep-alive" };
      const [response] = (await once(get({ port, host: "127.0.0.1", headers }), "response")) as [IncomingMessage];
      response.resume();
      return response.headers.connection;
    };
    try {
      expect(await connection()).to.equal("keep-alive");
      draining.started = true;
      expect(await connection()).to.equal("close");
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
