import { setTimeout as wait } from "node:timers/promises";
import { fillDue, rateAlone, rateOf } from "../../outreach/due.ts";
import { type MailServer, mailSettings, startMailServer } from "../../outreach/mail-server.ts";
import type { Bench } from "../bench.ts";
import { createCandidates } from "../pipeline.ts";
import { type Section, valueRow } from "../report.ts";
import { type Service, startService } from "../service.ts";

/** 50,000 messages in half an hour. */
const SECONDS_FOR_50_000 = 1_800;
/** MAIL_PER_MINUTE with the fast mail server. */
const FAST_PER_MINUTE = 2_000;
const CONNECTIONS = 10;
/** Time that the slow mail server takes for a message, in milliseconds. */
const SLOW_MS = 200;
/** Pause between two requests of the neighbour. */
const PAUSE_MS = 20;

/** Measures how fast one replica sends what is due at once, and what that costs another account. */
export async function reminderRows(bench: Bench): Promise<Section> {
  const server = await startMailServer();
  try {
    const rows = [...(await fastRows(bench, server)), await slowRow(bench, server)];
    return { title: `Reminders that are due at once, one replica (${bench.engine})`, tables: [], rows };
  } finally {
    await bench.children.stopAll();
    await server.stop();
  }
}

async function fastRows(bench: Bench, server: MailServer) {
  const { due, seconds } = bench.options.reminders;
  const { own, service } = await startSender(bench, server, FAST_PER_MINUTE);
  const [id = ""] = await createCandidates(service, 1);
  const quiet = await latencies(service, id, Math.min(seconds, 30));
  await fillDue(own.mongo.db(), (await own.account(0)).id, due);
  server.taken.length = 0;
  const [rate, busy] = await Promise.all([rateOf(server, seconds), latencies(service, id, seconds)]);
  await service.child.stop();
  return [
    valueRow(
      `seconds for 50000 messages, fast mail server, ${due} due`,
      50_000 / rate,
      SECONDS_FOR_50_000,
      (value) => `${value.toFixed(0)} s`,
    ),
    valueRow(
      "p99 of another account's reads meanwhile",
      p99(busy) / p99(quiet),
      2,
      (value) => `${value.toFixed(2)} x before`,
    ),
  ];
}

async function slowRow(bench: Bench, server: MailServer) {
  const { due, seconds } = bench.options.reminders;
  const { own, service } = await startSender(bench, server, 100_000);
  server.treat = ({ at }) => (at === "rcpt" ? { at, stallMs: SLOW_MS } : "accept");
  await fillDue(own.mongo.db(), (await own.account(0)).id, due);
  server.taken.length = 0;
  const rate = await rateOf(server, seconds);
  await service.child.stop();
  const alone = await rateAlone(server, CONNECTIONS, Math.min(seconds, 30));
  return valueRow(
    `time for a message, mail server that takes ${SLOW_MS} ms, ${CONNECTIONS} connections`,
    alone / rate,
    1 / 0.9,
    (value) => `${value.toFixed(2)} x the connections alone`,
  );
}

async function startSender(bench: Bench, server: MailServer, perMinute: number) {
  const own = await bench.withDatabase();
  const mail = {
    ...mailSettings(server),
    MAIL_PER_MINUTE: String(perMinute),
    MAIL_PER_ACCOUNT_PER_DAY: "1000000",
    MAIL_NEW_ADDRESSES_PER_DAY: "1000000",
  };
  return { own, service: await startService(own, { ...mail, MAIL_CONNECTIONS: String(CONNECTIONS) }) };
}

/** Reads a candidate again and again for so many seconds. Returns how long each read took, in milliseconds. */
async function latencies(service: Service, id: string, seconds: number): Promise<number[]> {
  const took: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end; await wait(PAUSE_MS)) {
    const began = performance.now();
    await service.send("GET", `/candidates/${id}`, { status: 200 });
    took.push(performance.now() - began);
  }
  return took;
}

function p99(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)] ?? NaN;
}
