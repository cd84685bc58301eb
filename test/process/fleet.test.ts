import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { scrape } from "../support/metrics.ts";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";

const REPLICAS = 4;
const CONNECTIONS = 64;
const REQUESTS = 60;
const COUNT = "http_server_request_duration_seconds_count";
const CREATED = { http_route: "/candidates", http_response_status_code: "201" };

describe("The connections of several processes", () => {
  const service = useProcesses({ REPLICAS, LIMIT_SCALE: 100 });
  const account = useSharedAccount(service);

  /** Opens connections, all at once, and sends one request over each. */
  async function ask(count: number) {
    const { port } = new URL(service.url);
    const sockets = Array.from({ length: count }, () => connect(Number(port), "127.0.0.1"));
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    const answers = sockets.map(async (socket) => {
      socket.write(`GET /limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${account.key}\r\n\r\n`);
      return String((await once(socket, "data"))[0]).split("\r\n")[0];
    });
    return { answers, close: () => sockets.forEach((socket) => socket.destroy()) };
  }

  const requests = () => service.log.filter(({ msg }) => msg === "request");

  it("are spread evenly, also if all are opened at once", async () => {
    const { answers, close } = await ask(CONNECTIONS);
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(["HTTP/1.1 200 OK"]));
    while (requests().length < CONNECTIONS) await service.logged(({ msg }) => msg === "request");
    close();
    const counts = new Map<number, number>();
    for (const { pid } of requests()) counts.set(pid, (counts.get(pid) ?? 0) + 1);
    expect([...counts.values()]).to.deep.equal(Array.from({ length: REPLICAS }, () => CONNECTIONS / REPLICAS));
  });

  it("go to the others while a process hangs, except one that is on its way to it", async () => {
    const [{ pid } = { pid: 0 }] = requests();
    process.kill(pid, "SIGSTOP");
    try {
      const { answers, close } = await ask(CONNECTIONS);
      let answered = 0;
      const enough = new Promise<void>((resolve) => {
        for (const answer of answers)
          void answer.then(() => {
            if (++answered === CONNECTIONS - 1) resolve();
          });
      });
      await enough;
      process.kill(pid, "SIGCONT");
      await Promise.all(answers);
      close();
    } finally {
      process.kill(pid, "SIGCONT");
    }
  });

  it("are served while a process is replaced", async () => {
    const pids = new Set(requests().map(({ pid }) => pid));
    const stopped = service.logged(({ msg, pid }) => msg === "stopped" && pids.has(pid));
    const replaced = service.logged(({ msg, pid }) => msg === "serving" && !pids.has(pid));
    for (const pid of [...pids].slice(1)) process.kill(pid, "SIGTERM");
    const during = await ask(CONNECTIONS);
    await Promise.all([...during.answers, stopped]);
    during.close();
    const { pid: fresh } = await replaced;
    const served = service.logged(({ msg, pid }) => msg === "request" && pid === fresh);
    const after = await ask(CONNECTIONS);
    await Promise.all([...after.answers, served]);
    after.close();
  });
});

describe("The operators' port of several processes", () => {
  const service = useProcesses({ REPLICAS, LIMIT_SCALE: 100 });
  const { client } = useSharedAccount(service);

  /** Sends requests over connections of their own, so that every process gets some. */
  async function create(count: number): Promise<void> {
    const send = () => client.post("/candidates", {}, { Connection: "close" });
    await Promise.all(Array.from({ length: count }, send));
  }

  const pids = (): number[] => [...new Set(service.log.filter(({ msg }) => msg === "serving").map(({ pid }) => pid))];
  const readiness = async () => (await fetch(`${service.opsUrl}/readyz`)).status;

  it("answers with the sum over all processes", async () => {
    await create(REQUESTS);
    const requests = () => service.log.filter(({ msg }) => msg === "request");
    while (requests().length < REQUESTS) await service.logged(({ msg }) => msg === "request");
    const busy = new Set(requests().map(({ pid }) => pid));
    expect(busy.size).to.be.above(1);
    const metrics = await scrape(service);
    expect(metrics.value(COUNT, CREATED)).to.equal(REQUESTS);
    expect(metrics.value("limiter_decisions_total", { surface: "create", verdict: "admitted" })).to.equal(REQUESTS);
    expect(metrics.value("target_info")).to.equal(1);
    expect(metrics.value("dependency_up", { db_system_name: "redis" })).to.equal(1);
  });

  it("answers for a process that hangs with its last values, and stays ready", async () => {
    const before = (await scrape(service)).value(COUNT, CREATED);
    const [pid = 0] = pids();
    process.kill(pid, "SIGSTOP");
    try {
      expect(await readiness()).to.equal(200);
      expect((await scrape(service)).value(COUNT, CREATED)).to.equal(before);
    } finally {
      process.kill(pid, "SIGCONT");
    }
  });

  it("keeps the counts of a process that was killed", async () => {
    const before = (await scrape(service)).value(COUNT, CREATED) ?? 0;
    const [pid = 0] = pids();
    const replaced = service.logged(({ msg }) => msg === "serving");
    process.kill(pid, "SIGKILL");
    await replaced;
    expect((await scrape(service)).value(COUNT, CREATED)).to.equal(before);
    await create(10);
    expect((await scrape(service)).value(COUNT, CREATED)).to.equal(before + 10);
  });

  it("reports that it drains as soon as it is told to stop", async () => {
    const draining = service.logged(({ msg }) => msg === "draining");
    service.child.kill("SIGTERM");
    await draining;
    expect(await readiness()).to.equal(503);
  });
});
