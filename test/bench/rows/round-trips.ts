import { setTimeout as wait } from "node:timers/promises";
import { ConnectionString } from "mongodb-connection-string-url";
import type { Bench } from "../bench.ts";
import { type Command, type CommandCounter, countCommands } from "../command-counter.ts";
import { oneHostOf } from "../one-host.ts";
import { candidateInput, createCandidates } from "../pipeline.ts";
import { notMeasured, type Row, type Section } from "../report.ts";
import { type Service, startService } from "../service.ts";

const TITLE = "MongoDB round trips of one request";
const REPEATS = 5;
/** Delay of each of MongoDB's replies, in milliseconds: longer than the way of an answer back to the bench. */
const REPLY_DELAY_MS = 25;
/** What follows an answer has begun and ended by then, in milliseconds. */
const AFTERWARDS_MS = 4 * REPLY_DELAY_MS;
const MIB = 1024 * 1024;
const FILE = Buffer.alloc(25 * MIB, "bench");
/**
 * What the driver and the process do on their own, whatever is asked: connections; every few seconds leases and the feed's
 * marks; once in a while when a key was last used. A look-up of a key is not among them: it counts.
 */
const BACKGROUND =
  /^(hello|ismaster|ping|endSessions|killCursors|sasl\w+|buildInfo)\b|^(find|insert|update|delete) (leases|feed_marks)$|^update keys$/i;

interface Asked {
  readonly what: string;
  readonly bound: string;
  readonly most: (withoutKey: number) => number;
  readonly send: (n: number) => Promise<unknown>;
}

/** Counts what one request asks of MongoDB, by the commands on the wire: what it waits for, and what follows its answer. */
export async function roundTripRows(bench: Bench): Promise<Section> {
  const [host, port] = oneHostOf(bench.mongodbUrl);
  if (host === undefined || port === undefined) {
    const row = notMeasured(TITLE, "", "MONGODB_URL names several hosts, or uses TLS");
    return { title: TITLE, rows: [row], tables: [], charts: [] };
  }
  const counter = await countCommands(host, Number(port), { delayMs: REPLY_DELAY_MS });
  try {
    const url = new ConnectionString(bench.mongodbUrl);
    url.hosts = [counter.address];
    url.searchParams.set("directConnection", "true");
    const service = await startService(bench, { MONGODB_URL: url.href });
    return await sectionOf(service, counter);
  } finally {
    await bench.children.stopServers();
    counter.close();
  }
}

async function sectionOf(service: Service, counter: CommandCounter): Promise<Section> {
  const rows: Row[] = [];
  const seen: string[][] = [];
  let withoutKey = NaN;
  for (const { what, bound, most, send } of await requestsOf(service)) {
    const runs: Run[] = [];
    await send(-1); // connections are opened, and the key is looked up
    for (let n = 0; n < REPEATS; n++) runs.push(await runOf(counter, () => send(n)));
    const sizeOf = ({ waitedFor, after }: Run) => waitedFor.length + after.length;
    const { waitedFor, after } = runs.toSorted((a, b) => sizeOf(a) - sizeOf(b))[Math.floor(REPEATS / 2)]!;
    const count = waitedFor.length;
    if (Number.isNaN(withoutKey)) withoutKey = count;
    const verdict = count <= most(withoutKey) ? "met" : "not met";
    const measured = after.length === 0 ? `${count}` : `${count}, and ${after.length} after the answer`;
    rows.push({ what: `round trips, ${what}`, bound, measured, verdict });
    seen.push([what, `${count}`, summary(waitedFor), summary(after) || "-"]);
  }
  const caption =
    `Commands on the connections to MongoDB, the median of ${REPEATS} requests: sweeps add theirs to some. ` +
    `Every reply is delayed by ${REPLY_DELAY_MS} ms: a request waited for those that came before its answer.`;
  return {
    title: TITLE,
    rows,
    tables: [{ title: TITLE, head: ["request", "waited for", "which", "after the answer"], rows: seen, caption }],
    charts: [],
  };
}

interface Run {
  readonly waitedFor: readonly string[];
  readonly after: readonly string[];
}

async function runOf(counter: CommandCounter, send: () => Promise<unknown>): Promise<Run> {
  await wait(AFTERWARDS_MS);
  counter.forget();
  await send();
  const waitedFor = counter.commands.filter(({ isAnswered }) => isAnswered);
  await wait(AFTERWARDS_MS);
  const after = counter.commands.filter((command) => !waitedFor.includes(command));
  const namesOf = (commands: readonly Command[]) =>
    commands.map(({ name }) => name).filter((name) => !BACKGROUND.test(name));
  return { waitedFor: namesOf(waitedFor), after: namesOf(after) };
}

/** The first one is the POST that the second is compared with. */
async function requestsOf(service: Service): Promise<Asked[]> {
  const [id = ""] = await createCandidates(service, 1);
  const { body } = await service.send("GET", `/candidates/${id}`, { status: 200 });
  const { documents } = JSON.parse(body.toString()) as { documents: { id: string }[] };
  const content = `/candidates/${id}/documents/${documents[0]?.id ?? ""}/content`;
  const post = (n: number, headers = {}) =>
    service.send("POST", "/candidates", { status: 201, headers, body: candidateInput(1000 + n) });
  const unique = `${id}-${Date.now()}`;
  return [
    { what: "POST without Idempotency-Key", bound: "-", most: () => Infinity, send: (n) => post(n) },
    {
      what: "POST with Idempotency-Key",
      bound: "<= without + 1 waited for",
      most: (withoutKey) => withoutKey + 1,
      send: (n) => post(100 + n, { "Idempotency-Key": `${unique}-${n}` }),
    },
    {
      what: "PATCH, not the first of this client",
      bound: "<= 1",
      most: () => 1,
      send: (n) =>
        service.send("PATCH", `/candidates/${id}`, { status: 200, body: JSON.stringify({ name: `Ada ${n}` }) }),
    },
    {
      what: "25 MiB upload",
      bound: "<= 25",
      most: () => 25,
      send: () =>
        service.send("PUT", content, { status: 200, headers: { "Content-Type": "application/pdf" }, body: FILE }),
    },
    {
      what: "list page",
      bound: "<= 1",
      most: () => 1,
      send: async () => {
        await wait(20);
        await service.send("GET", "/candidates?limit=200", { status: 200 });
      },
    },
  ];
}

function summary(commands: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const command of commands) counts.set(command, (counts.get(command) ?? 0) + 1);
  return [...counts].map(([command, count]) => (count === 1 ? command : `${count} x ${command}`)).join(", ");
}
