import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { spawnService } from "../support/processes.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const REPLICAS = 4;
const CONNECTIONS = 64;
const OK = "HTTP/1.1 200 OK";

describe("The connections of several processes", () => {
  const service = useProcesses({ REPLICAS, LIMIT_SCALE: 1_000 });
  const account = useSharedAccount(service);
  const port = () => Number(new URL(service.url).port);

  /** Opens a connection and sends a request over it, which asks only Redis. Its response is the status line, or the code of the error. */
  function ask() {
    const socket = connect(port(), "127.0.0.1");
    socket.write(`GET /limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n\r\n`);
    const response = new Promise<string>((resolve) => {
      socket.once("data", (data) => resolve(String(data).split("\r\n")[0] ?? ""));
      socket.once("error", ({ code }: NodeJS.ErrnoException) => resolve(code ?? ""));
      socket.once("close", () => resolve("closed"));
    });
    return { socket, response };
  }

  /** Opens connections, all at once. */
  function askMany(count = CONNECTIONS) {
    const asked = Array.from({ length: count }, ask);
    const responses = asked.map(({ response }) => response);
    return { responses, all: Promise.all(responses), close: () => asked.forEach(({ socket }) => socket.destroy()) };
  }

  async function expectAllAnswered({ all, close }: ReturnType<typeof askMany>): Promise<void> {
    expect((await all).filter((response) => response !== OK)).to.deep.equal([]);
    close();
  }

  const gone = new Set<number>();
  const pids = () => [...new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid))];
  const live = () => pids().filter((pid) => !gone.has(pid));
  const served = () => service.logged(({ msg }) => msg === "serving");

  async function end(pid: number, signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const successor = served();
    process.kill(pid, signal);
    gone.add(pid);
    await successor;
  }

  it("are all served by the others while a process hangs, and none is lost when it is killed then", async () => {
    const [hung = 0] = live();
    process.kill(hung, "SIGSTOP");
    await expectAllAnswered(askMany());
    const during = askMany();
    await end(hung, "SIGKILL");
    await expectAllAnswered(during);
  });

  it("break only in a process that is killed: nobody waits in vain", async () => {
    const { all, responses, close } = askMany(8 * CONNECTIONS);
    await Promise.any(responses);
    const [victim = 0] = live();
    await end(victim, "SIGKILL");
    const broken = (await all).filter((response) => response !== OK);
    expect(broken.filter((response) => response !== "ECONNRESET" && response !== "closed")).to.deep.equal([]);
    close();
  });

  it("are all served while processes are replaced one after the other", async () => {
    for (const pid of live().slice(0, 2)) {
      const replaced = end(pid, "SIGTERM");
      await expectAllAnswered(askMany());
      await replaced;
      await expectAllAnswered(askMany());
    }
  });

  it("are all served while the supervisor stands still", async () => {
    service.child.kill("SIGSTOP");
    try {
      await expectAllAnswered(askMany());
    } finally {
      service.child.kill("SIGCONT");
    }
  });

  it("keep another service from starting on the same port", async () => {
    const { port } = new URL(service.url);
    const failure = await spawnService({ REPLICAS: 2, PORT: port }).then(
      () => "it started",
      (error: Error) => error.message,
    );
    expect(failure).to.match(/did not start: .*EADDRINUSE.*:\d+/s);
  });

  it("are served to the end when the service is told to stop, also those that came since", async () => {
    const before = Array.from({ length: CONNECTIONS }, ask);
    const draining = service.logged(({ msg }) => msg === "draining");
    const exited = once(service.child, "exit");
    service.child.kill("SIGTERM");
    await draining;
    await expectAllAnswered(askMany(8 * CONNECTIONS));
    expect(new Set(await Promise.all(before.map(({ response }) => response)))).to.deep.equal(new Set([OK]));
    expect(await exited).to.deep.equal([0, null]);
  });
});

describe("Several processes whose supervisor is killed", () => {
  it("end, because nobody would replace one that crashes", async () => {
    const service = await spawnService({ REPLICAS: 2 });
    // The processes hold the service's standard output, so it is closed when the last of them has ended.
    const closed = once(service.child, "close");
    service.child.kill("SIGKILL");
    await closed;
    await service.stop();
  });
});
