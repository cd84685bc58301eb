import { setTimeout } from "node:timers/promises";
import type { Document } from "mongodb";
import pLimit from "p-limit";
import { CLOCK_SKEW_MS } from "../../src/compose.ts";
import { startReplica } from "../../src/process/replica.ts";
import { createLog } from "../../src/infra/log.ts";
import { LoadClient } from "../support/load.ts";
import { primaryOf, withDatabase } from "../support/mongo-url.ts";
import { openOperators } from "../support/operators.ts";
import { testConfig } from "../support/service.ts";
import type { WriteEvent } from "./feed-events.ts";
import { type FeedRecorder, startFeedRecorder } from "./feed-recorder.ts";
import { decodeCursor } from "../../src/candidates/feed.ts";

/** Each account is one trace. */
const ACCOUNTS = 40;
/** Accounts whose clients are busy at once. */
const AT_ONCE = 28;
const STORE_TIMEOUT_MS = 2_000;
/** Every so many writes one is held back on its way to MongoDB, up to this long: some take longer than they may. */
const HELD_EVERY = 12;
const HELD_MS = 5_000;
const WRITES = 6;
/** Between two writes, and between two polls, of one account, in milliseconds. */
const PAUSE_MS = 300;
const POLL_MS = 500;
/** How long an account's reader polls after the last write at most, in milliseconds. */
const POLL_WITHIN_MS = 40_000;
const NO_LOG = { write: () => undefined };

/** Records traces of two replicas of the real service in a folder: clients write, erase and follow the feed. */
export async function makeFeedTraces(folder: string, count = ACCOUNTS): Promise<void> {
  const primary = await primaryOf(process.env.MONGODB_URL ?? "");
  if (primary.tls) throw new Error("Traces need a MongoDB without TLS: the recorder reads what passes it.");
  const recorder = await startFeedRecorder(primary.port, primary.host);
  let writes = 0;
  recorder.delayOf = ({ insert, update }: Document) =>
    [insert, update].includes("candidates") && ++writes % HELD_EVERY === 0 ? Math.random() * HELD_MS : 0;
  const database = `traces-${process.pid}`;
  const config = testConfig({
    MONGODB_URL: primary.through(`127.0.0.1:${recorder.port}`, database),
    STORE_TIMEOUT_MS,
    LIMIT_SCALE: 1_000,
  });
  const operators = await openOperators(
    testConfig({ MONGODB_URL: withDatabase(process.env.MONGODB_URL ?? "", database) }),
  );
  const replicas = await Promise.all([1, 2].map(() => startReplica(config, createLog("fatal", NO_LOG))));
  const clients = replicas.map(({ port }) => new LoadClient(`http://127.0.0.1:${port}`, 16));
  try {
    const lagMs = config.STORE_TIMEOUT_MS + CLOCK_SKEW_MS;
    const limit = pLimit(AT_ONCE);
    const follow = async (): Promise<void> => {
      const { id } = await operators.accounts.createAccount({ name: "Test" });
      const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
      await new Follower({ id, key }, clients, recorder).run();
      recorder.write(folder, id, { lagMs }, { passed: true });
    };
    await Promise.all(Array.from({ length: count }, () => limit(follow)));
  } finally {
    for (const client of clients) client.close();
    await Promise.all(replicas.map((replica) => replica.stop()));
    await operators.mongo.db.dropDatabase();
    await operators.close();
    recorder.close();
  }
}

interface Account {
  readonly id: string;
  readonly key: string;
}

interface Row {
  readonly id: string;
  readonly version: number;
}

/** The clients of one account: one writes, and one mirrors. */
class Follower {
  readonly #account: Account;
  readonly #clients: readonly LoadClient[];
  readonly #recorder: FeedRecorder;
  readonly #mirror = new Map<string, number>();
  #cursor = "";
  #sent = 0;

  constructor(account: Account, clients: readonly LoadClient[], recorder: FeedRecorder) {
    this.#account = account;
    this.#clients = clients;
    this.#recorder = recorder;
  }

  /**
   * Writes and mirrors, until all is quiet and in the mirror, and the cursor is past all.
   * @throws if that takes too long.
   */
  async run(): Promise<void> {
    let writing = true;
    const written = this.#write().finally(() => (writing = false));
    let deadline = Infinity;
    while (!this.#hasAll() || writing) {
      if (!writing) deadline = Math.min(deadline, performance.now() + POLL_WITHIN_MS);
      if (performance.now() > deadline) throw new Error("The reader of a trace has not come to the end.");
      await this.#poll();
      await setTimeout(POLL_MS);
    }
    await written;
  }

  /** Sends a request to one replica after the other. */
  #send(method: string, path: string, body?: object) {
    const client = this.#clients[this.#sent++ % this.#clients.length]!;
    const { key } = this.#account;
    return client.send({ method, path, key, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  async #write(): Promise<void> {
    const ids: string[] = [];
    for (let n = 0; n < WRITES; n++) {
      const id = ids[Math.floor(Math.random() * ids.length)];
      const chance = Math.random();
      if (id === undefined || chance < 0.3) {
        const { status, body } = await this.#send("POST", "/candidates", { name: `${n}` });
        if (status === 201) ids.push((JSON.parse(body) as Row).id);
      } else if (chance < 0.9) {
        // Two replicas change the same candidate at once.
        await Promise.all([1, 2].map((each) => this.#send("PATCH", `/candidates/${id}`, { name: `${n} ${each}` })));
      } else await this.#send("DELETE", `/candidates/${id}`);
      await setTimeout(Math.random() * 2 * PAUSE_MS);
    }
  }

  async #poll(): Promise<void> {
    for (let more = true; more;) {
      const sent = this.#cursor;
      const { status, body } = await this.#send("GET", `/candidates?limit=2${sent === "" ? "" : `&cursor=${sent}`}`);
      if (status !== 200) return;
      const page = JSON.parse(body) as { data: Row[]; has_more: boolean; cursor: string };
      this.#recorder.read(this.#account.id, sent, page);
      for (const { id, version } of page.data) this.#mirror.set(id, version);
      this.#cursor = page.cursor;
      more = page.has_more;
    }
  }

  /** Whether nothing waits, and the mirror has every write, with the cursor past it. */
  #hasAll(): boolean {
    if (this.#recorder.waiting(this.#account.id) > 0 || this.#cursor === "") return false;
    const { safe } = decodeCursor(this.#cursor);
    const last = new Map<string, WriteEvent["row"]>();
    for (const event of this.#recorder.events(this.#account.id))
      if (event.type === "write" && event.applied) last.set(event.row.change.slice(16), event.row);
    return [...last].every(([id, { version, change }]) => this.#mirror.get(id) === version && change <= safe);
  }
}
