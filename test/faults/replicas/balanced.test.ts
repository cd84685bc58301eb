import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { onPath } from "../../../src/dev/programs.ts";
import { type LoadAnswer, LoadClient } from "../../support/load.ts";
import { startRedis } from "../../support/servers.ts";
import { useStarted } from "../../support/use-started.ts";
import { skip } from "../skip.ts";
import { startFleet } from "./fleet.ts";
import { type HaProxy, startHaProxy } from "./haproxy.ts";

/** Duration of an outage in which the balancer used to remove all replicas. */
const OUTAGE_MS = 5_000;
/** Average rest of a lane between two requests. */
const REST_MS = 20;

describe("the balancer of docker-compose.yml, in front of three replicas,", function () {
  this.timeout(120_000);
  const program = onPath("haproxy");
  before(function () {
    if (program === undefined) skip(this, "haproxy is not on the PATH");
  });
  const redis = useStarted(
    "Redis",
    () => startRedis(),
    (server) => server.stop(),
  );
  const fleet = useStarted(
    "The replicas",
    () => startFleet(3, { REDIS_URL: redis.url, LIMIT_SCALE: 1_000 }),
    (started) => started.stop(),
  );
  const balancer = useStarted(
    "HAProxy",
    () => startHaProxy(program ?? "", fleet.members),
    (started: HaProxy) => started.stop(),
  );

  /** Repeats a request until it is told to end. @returns the responses, and the function that ends it. */
  function repeat(load: LoadClient, request: Parameters<LoadClient["send"]>[0]) {
    const answers: LoadAnswer[] = [];
    let over = false;
    const sending = (async () => {
      for (; !over; await setTimeout(REST_MS)) answers.push(await load.send(request));
    })();
    return { answers, end: () => ((over = true), sending) };
  }

  const brief = ({ status, headers, body }: LoadAnswer) =>
    [status, headers["content-type"], body.slice(0, 200)].join(" ");
  const isProblem = ({ status, headers }: LoadAnswer) =>
    status === 503 &&
    headers["content-type"] === "application/problem+json" &&
    /^\d+$/.test(String(headers["retry-after"]));
  const isGood = ({ status }: LoadAnswer) => status === 200 || status === 201;

  it("passes only good responses and the service's own 503 while Redis restarts", async () => {
    const { id } = await fleet.operators.accounts.createAccount({ name: "Test" });
    const { key } = await fleet.operators.accounts.createKey({ accountId: id, name: "test" });
    const load = new LoadClient(balancer.url, 8);
    const charged = [
      repeat(load, { method: "POST", path: "/candidates", key, body: "{}" }),
      repeat(load, { method: "GET", path: "/candidates", key }),
      repeat(load, { method: "GET", path: "/limits", key }),
    ];
    const free = repeat(load, { method: "GET", path: "/openapi.json", key: "" }); // one page for all that need no server
    const all = [...charged, free];
    const untilGoodAfter = async (counts: number[]) => {
      while (all.some(({ answers }, index) => !answers.slice(counts[index]).some(isGood))) await setTimeout(REST_MS);
    };
    await untilGoodAfter(all.map(() => 0));
    await redis.stop();
    await setTimeout(OUTAGE_MS);
    const before = all.map(({ answers }) => answers.length);
    await redis.restart();
    await untilGoodAfter(before);
    await Promise.all(all.map(({ end }) => end()));
    load.close();

    const answers = charged.flatMap((lane) => lane.answers);
    expect(answers.filter(isProblem)).not.to.deep.equal([]);
    expect(answers.filter((answer) => !isGood(answer) && !isProblem(answer)).map(brief)).to.deep.equal([]);
    const others = free.answers.filter(({ status }) => status !== 200);
    expect(others.map(brief)).to.deep.equal([]);
  });

  it("says itself, also with a problem, that no replica is ready", async () => {
    await Promise.all(fleet.members.map((member) => member.end("SIGKILL")));
    const load = new LoadClient(balancer.url, 1);
    // Until it has noticed, it tries to reach a replica: 502 or 503.
    let answer: LoadAnswer;
    do answer = await load.send({ method: "GET", path: "/openapi.json", key: "" });
    while (answer.status !== 503);
    load.close();
    expect(brief(answer)).to.match(/^503 application\/problem\+json \{.*"status":503,.*\}$/);
    expect(isProblem(answer)).to.equal(true);
  });
});
