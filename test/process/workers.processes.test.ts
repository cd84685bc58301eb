import { execFile } from "node:child_process";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { promisify } from "node:util";
import { expect } from "chai";
import { useProcesses } from "../support/use-service.ts";

const ASK = "GET /metrics HTTP/1.1\r\nHost: ops\r\n\r\n";
const run = promisify(execFile);

describe("A process that asks a worker for its metrics just after the worker was killed", () => {
  const service = useProcesses({ REPLICAS: 2 });
  let connection: Socket;
  beforeEach(async () => {
    connection = connect(Number(new URL(service.opsUrl).port), "127.0.0.1").on("error", () => undefined);
    connection.write(ASK);
    await once(connection, "data");
  });
  afterEach(() => connection.destroy());

  /** Kills the newest worker. The process learns of it after it was asked for the metrics. */
  async function killUnnoticed(): Promise<void> {
    const { pid = 0 } = service.log.findLast(({ msg }) => msg === "serving") ?? {};
    service.child.kill("SIGSTOP");
    await new Promise((sent) => connection.write(ASK, sent));
    process.kill(pid, "SIGKILL");
    const state = async () => (await run("ps", ["-o", "stat=", "-p", String(pid)])).stdout;
    while (!(await state()).startsWith("Z"));
    service.child.kill("SIGCONT");
  }

  it("lives on, and replaces the worker", async () => {
    const replaced = service.logged(({ msg }) => msg === "serving");
    await killUnnoticed();
    await Promise.race([replaced, once(service.child, "exit")]);
    expect(service.child.exitCode).to.equal(null);
  });

  it("ends with 0 if it was told to stop before", async () => {
    const ended = once(service.child, "exit");
    const draining = service.logged(({ msg }) => msg === "draining");
    service.child.kill("SIGTERM");
    await draining;
    await killUnnoticed();
    expect(await ended).to.deep.equal([0, null]);
  });
});
