import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import { ConnectionError, OnboardingClient, ProblemError } from "../../../src/client/index.ts";
import { newAccount } from "../../support/service.ts";
import { isRunning } from "../../support/processes.ts";
import { useStarted } from "../../support/use-started.ts";
import { useReceiver } from "../../webhooks/receiver.ts";
import { startFleet } from "./fleet.ts";

const SECONDS = Number(process.env.NUDGE_KILLS_SECONDS ?? 20);
const REPLICAS = 3;
/** Time between two kills, in milliseconds, at most. */
const MAX_CALM_MS = 4_000;
/** A nudge may wait for 31 s. */
const EQUAL_WITHIN_MS = 40_000;

describe("a mirror that has no timer, only nudges", function () {
  this.timeout((SECONDS + 120) * 1000);
  const fleet = useStarted(
    "The replicas",
    () => startFleet(REPLICAS, { LIMIT_SCALE: 1_000 }),
    (started) => started.stop(),
  );
  const receiver = useReceiver();

  it(`equals the service ${EQUAL_WITHIN_MS / 1000} s after the last write, while replicas are killed with SIGKILL for ${SECONDS} s`, async () => {
    const { key, id, client: api } = await newAccount(fleet.operators, fleet.url);
    const client = new OnboardingClient({ baseUrl: fleet.url, apiKey: key });
    const mirror = client.mirror();
    const copy = new Map<string, number>();
    let reading = Promise.resolve();
    receiver.answer("/mirror", (response) => {
      response.writeHead(204).end();
      reading = reading.then(async () => {
        for await (const row of mirror) copy.set(row.id, row.version);
      });
    });
    await api.post("/webhooks", { url: `${receiver.origin}/mirror` });

    const end = performance.now() + SECONDS * 1000;
    let killed = 0;
    let [written, abandoned] = [0, 0];
    const killing = (async () => {
      while (performance.now() < end) {
        await wait(Math.random() * MAX_CALM_MS);
        const running = fleet.members.filter(({ child }) => isRunning(child));
        await running[Math.floor(Math.random() * running.length)]?.end("SIGKILL");
        killed++;
        await fleet.join();
      }
    })();
    const writing = (async () => {
      const ids: string[] = [];
      while (performance.now() < end) {
        try {
          const { id: candidate } = await client.createCandidate({ name: `Ada ${written}` });
          ids.push(candidate);
          await client.updateCandidate(ids[written % ids.length] ?? candidate, { name: `Grace ${written}` });
          written++;
        } catch (error) {
          // After five retries the client gives up. What the killed processes have written of it must be told all the same.
          const isOfKills =
            error instanceof ConnectionError || (error instanceof ProblemError && [409, 503].includes(error.status));
          if (!isOfKills) throw error;
          abandoned++;
        }
        await wait(Math.random() * 1_000);
      }
    })();
    await Promise.all([killing, writing]);
    const lastWrite = performance.now();

    const rows = fleet.operators.mongo.db.collection<{ _id: string; version: number }>("candidates");
    const stored = await rows.find({ account: id }, { projection: { version: 1 } }).toArray();
    const missing = () => stored.filter(({ _id, version }) => copy.get(_id) !== version);
    while (missing().length > 0 && performance.now() - lastWrite < EQUAL_WITHIN_MS) await wait(50);
    await reading;
    const nudges = receiver.received.length;
    console.log(
      `        ${killed} kills, ${written} rounds of writes and ${abandoned} abandoned, ${nudges} nudges, equal after ${Math.round((performance.now() - lastWrite) / 1000)} s`,
    );
    expect(missing()).to.deep.equal([]);
    expect(killed).to.be.above(SECONDS / 10);
    expect(written).to.be.above(SECONDS / 4);
  });
});
