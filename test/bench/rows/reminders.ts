import { setTimeout as wait } from "node:timers/promises";
import { fillDue, rateAlone, rateOf } from "../../reminders/due.ts";
import { mailSettings } from "../../reminders/mail-server.ts";
import type { Bench } from "../bench.ts";
import type { Child } from "../children.ts";
import { createCandidates } from "../pipeline.ts";
import type { MailOrder } from "../programs/mail-sink.ts";
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

/** A mail server in a process of its own. */
class MailSink {
  readonly url: string;
  readonly #child: Child;

  constructor(child: Child) {
    this.url = `smtp://127.0.0.1:${child.ready.port}`;
    this.#child = child;
  }

  /** Returns the number of messages that it has taken. */
  async count(): Promise<number> {
    return (await this.#child.ask({ do: "count" } satisfies MailOrder)) as number;
  }

  /** From now on it takes so many milliseconds for each message. */
  async stall(ms: number): Promise<void> {
    await this.#child.ask({ do: "stall", ms } satisfies MailOrder);
  }
}

/** Measures how fast one replica sends what is due at once, and what that costs another account. */
export async function reminderRows(bench: Bench): Promise<Section> {
  const server = new MailSink(await bench.children.start("test/bench/programs/mail-sink"));
  const rows = [...(await fastRows(bench, server)), await slowRow(bench, server)];
  return { title: `Reminders that are due at once, one replica (${bench.engine})`, tables: [], rows };
}

async function fastRows(bench: Bench, server: MailSink) {
  const { due, seconds } = bench.options.reminders;
  const own = await withDue(bench, due);
  const idle = await startService(own); // without a mail server it sends nothing
  const quiet = await readsOf(idle, Math.min(seconds, 60));
  await idle.child.stop();
  const service = await startSender(own, server, FAST_PER_MINUTE);
  const [rate, busy] = await Promise.all([rateOf(() => server.count(), seconds), readsOf(service, seconds)]);
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
      (value) => `${value.toFixed(2)} x without a mail server`,
    ),
  ];
}

async function slowRow(bench: Bench, server: MailSink) {
  const { due, seconds } = bench.options.reminders;
  await server.stall(SLOW_MS);
  const service = await startSender(await withDue(bench, due), server, 100_000);
  const rate = await rateOf(() => server.count(), seconds);
  await service.child.stop();
  const alone = await rateAlone(server.url, CONNECTIONS, Math.min(seconds, 30));
  return valueRow(
    `time for a message, mail server that takes ${SLOW_MS} ms, ${CONNECTIONS} connections`,
    alone / rate,
    1 / 0.9,
    (value) => `${value.toFixed(2)} x the connections alone`,
  );
}

/** Opens a database with candidates of account 0 whose first message is due. */
async function withDue(bench: Bench, due: number): Promise<Bench> {
  const own = await bench.withDatabase();
  await fillDue(own.mongo.db(), (await own.account(0)).id, due);
  return own;
}

function startSender(own: Bench, server: MailSink, perMinute: number): Promise<Service> {
  return startService(own, {
    ...mailSettings(server),
    MAIL_PER_MINUTE: String(perMinute),
    MAIL_PER_ACCOUNT_PER_DAY: "1000000",
    MAIL_NEW_ADDRESSES_PER_DAY: "1000000",
    MAIL_CONNECTIONS: String(CONNECTIONS),
  });
}

/** Reads a candidate of the service's account for so many seconds. Returns the time that each read took, in milliseconds. */
async function readsOf(service: Service, seconds: number): Promise<number[]> {
  const [id = ""] = await createCandidates(service, 1);
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
