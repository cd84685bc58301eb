import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { promisify } from "node:util";
import { expect } from "chai";
import { useRedisServer } from "../support/servers.ts";
import type { Processes } from "../support/processes.ts";
import { useStarted } from "../support/use-started.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT_ID = "00f067aa0ba902b7";

/** A collector that keeps the bytes that it is sent. OTLP writes names as UTF-8 and ids as bytes, so tests look for those. */
interface Collector {
  readonly url: string;
  readonly received: { path: string; type: string; body: Buffer }[];
  readonly server: Server;
}

async function startCollector(): Promise<Collector> {
  const received: Collector["received"] = [];
  const server = createServer((req, res) => {
    void buffer(req).then((body) => {
      received.push({ path: req.url ?? "", type: req.headers["content-type"] ?? "", body });
      res.end();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, server };
}

async function stopCollector({ server }: Collector): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

/** Stops the service, which then sends the spans that are left. */
async function stopped({ child }: Processes): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect((await exited)[0]).to.equal(0);
}

/** Returns the values of error.type in what was sent. In OTLP four bytes stand before a text; the last is its length. */
function errorTypesIn({ received }: Collector): string[] {
  const sent = Buffer.concat(received.map(({ body }) => body)).toString("latin1");
  const [, ...rests] = sent.split("error.type");
  return rests.map((rest) => rest.slice(4, 4 + rest.charCodeAt(3)));
}

describe("Tracing", () => {
  const collector = useStarted("The collector", startCollector, stopCollector);
  const service = useProcesses(() => ({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url }));
  const { client } = useSharedAccount(service);

  it("continues the client's trace, with a span for each command, and puts its id in the log", async () => {
    const logged = service.logged(({ msg, status }) => msg === "request" && status === 201);
    const traceparent = `00-${TRACE_ID}-${PARENT_ID}-01`;
    const { status, headers } = await client.post("/candidates", {}, { traceparent });
    expect(status).to.equal(201);
    expect(await logged).to.include({ trace_id: TRACE_ID, request_id: headers.get("x-request-id") });

    await stopped(service);
    const body = Buffer.concat(collector.received.map((sent) => sent.body));
    expect(new Set(collector.received.map(({ path, type }) => `${path} ${type}`))).to.deep.equal(
      new Set(["/v1/traces application/x-protobuf"]),
    );
    for (const text of ["candidate-onboarding-service", "POST /candidates", "insert candidates", "EVALSHA"])
      expect(body.includes(text), text).to.equal(true);
    for (const id of [TRACE_ID, PARENT_ID]) expect(body.includes(Buffer.from(id, "hex")), id).to.equal(true);
    expect(errorTypesIn(collector)).not.to.include("201");
    expect(body.includes("PING"), "a check that belongs to no request").to.equal(false);
  });
});

describe("Tracing of a request that fails", () => {
  const collector = useStarted("The collector", startCollector, stopCollector);
  const redis = useRedisServer();
  const service = useProcesses(() => ({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    REDIS_URL: redis.url,
    LIMITER_TIMEOUT_MS: 500,
  }));
  const { client } = useSharedAccount(service);

  it("marks its span and that of the command as errors, and names them", async () => {
    expect((await client.get("/candidates")).status).to.equal(200);
    await redis.kill();
    expect((await client.get("/candidates")).status).to.equal(503);
    await stopped(service);
    const named = errorTypesIn(collector);
    expect(named).to.include("503");
    expect(named.filter((name) => name !== "503" && /^[A-Z]\w*Error$/.test(name))).not.to.deep.equal([]);
  });
});

describe("The SDK of OpenTelemetry", () => {
  /** Starts tracing in a new process that has loaded the whole service. Returns whether the SDK was loaded. */
  async function loadsSdk(endpoint: string | null): Promise<boolean> {
    const program = `
      import { createRequire } from "node:module";
      import { startTracing } from "./src/compose.ts";
      await startTracing(${JSON.stringify(endpoint)});
      const { cache } = createRequire(import.meta.url);
      console.log(Object.keys(cache).some((file) => /@opentelemetry.sdk-trace/.test(file)));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      "--import",
      "tsx",
      "--input-type=module",
      "--eval",
      program,
    ]);
    return JSON.parse(stdout) as boolean;
  }

  it("is loaded only if there is an endpoint", async () => {
    expect(await loadsSdk(null)).to.equal(false);
    expect(await loadsSdk("http://127.0.0.1:1")).to.equal(true);
  });
});
