import { setTimeout } from "node:timers/promises";
import type { Document } from "mongodb";
import { CLOCK_SKEW_MS } from "../../src/compose.ts";
import { startReplica } from "../../src/process/replica.ts";
import { createLog } from "../../src/infra/log.ts";
import type { Config } from "../../src/config.ts";
import { startMember } from "../support/processes.ts";
import { type LoadAnswer, LoadClient } from "../support/load.ts";
import { primaryOf, withDatabase } from "../support/mongo-url.ts";
import { openOperators } from "../support/operators.ts";
import { environmentOf, testConfig } from "../support/service.ts";
import type { WriteEvent } from "./feed-events.ts";
import { type FeedRecorder, startFeedRecorder } from "./feed-recorder.ts";
import { decodeCursor } from "../../src/candidates/feed.ts";

/** Each account is one trace. All are busy at once. */
const ACCOUNTS = 28;
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
/** Writes after which a replica is killed: about half of those that its clients send. */
const KILLED_AFTER = 30;
const NO_LOG = { write: () => undefined };

/** What a recording needs: the recorder, the service's settings with its address, and the operators' services. */
interface Stage {
  readonly recorder: FeedRecorder;
  readonly config: Config;
  readonly account: () => Promise<Account>;
  /** Writes the trace of an account down, when its reader has come to the end. */
  readonly write: (account: Account, passed: boolean) => void;
}

/** Records what `act` does to the feed into a folder. */
async function recording(folder: string, act: (stage: Stage) => Promise<void>): Promise<void> {
  const primary = await primaryOf(process.env.MONGODB_URL ?? "");
  if (primary.tls) throw new Error("Traces need a MongoDB without TLS: the recorder reads what passes it.");
  const recorder = await startFeedRecorder(primary.port, primary.host);
  const database = `traces-${process.pid}`;
  const config = testConfig({
    MONGODB_URL: primary.through(`127.0.0.1:${recorder.port}`, database),
    STORE_TIMEOUT_MS,
    LIMIT_SCALE: 1_000,
  });
  const operators = await openOperators(
    testConfig({ MONGODB_URL: withDatabase(process.env.MONGODB_URL ?? "", database) }),
  );
  try {
    await act({
      recorder,
      config,
      account: async () => {
        const { id } = await operators.accounts.createAccount({ name: "Test" });
        const { key } = await operators.accounts.createKey({ accountId: id, name: "test" });
        return { id, key };
      },
      write: ({ id }, passed) => recorder.write(folder, id, { lagMs: STORE_TIMEOUT_MS + CLOCK_SKEW_MS }, { passed }),
    });
  } finally {
    await operators.mongo.db.dropDatabase();
    await operators.close();
    recorder.close();
  }
}

/** Two replicas of the real service: clients write, erase and follow the feed, and some writes are held back. */
export function recordClients(folder: string): Promise<void> {
  return recording(folder, async ({ recorder, config, account, write }) => {
    let writes = 0;
    recorder.delayOf = ({ insert, update }: Document) =>
      [insert, update].includes("candidates") && ++writes % HELD_EVERY === 0 ? Math.random() * HELD_MS : 0;
    const replicas = await Promise.all([1, 2].map(() => startReplica(config, createLog("fatal", NO_LOG))));
    const clients = replicas.map(({ port }) => new LoadClient(`http://127.0.0.1:${port}`, 16));
    const follow = async (): Promise<void> => {
      const followed = await account();
      await new Follower({ account: followed, clients, recorder }).run();
      write(followed, true);
    };
    try {
      await Promise.all(Array.from({ length: ACCOUNTS }, follow));
    } finally {
      for (const client of clients) client.close();
      await Promise.all(replicas.map((replica) => replica.stop()));
    }
  });
}

/**
 * Eight writers and a reader, and one of the two replicas is killed in the middle. Its mark then holds the cursor back for
 * minutes, so the reader does not wait until it has passed every row.
 */
export function recordDeath(folder: string): Promise<void> {
  return recording(folder, async ({ recorder, config, account, write }) => {
    const members = await Promise.all([1, 2].map(() => startMember(environmentOf(config))));
    const clients = members.map(({ port }) => new LoadClient(`http://127.0.0.1:${port}`, 16));
    const followed = await account();
    const written = () => recorder.events(followed.id).filter(({ type }) => type === "write").length;
    try {
      const following = new Follower({ account: followed, clients, recorder, writers: 8, passes: false }).run();
      while (written() < KILLED_AFTER) await Promise.race([following, setTimeout(10)]);
      await members[0]!.end("SIGKILL");
      await following;
      write(followed, false);
    } finally {
      for (const client of clients) client.close();
      await Promise.all(members.map((member) => member.end("SIGTERM")));
    }
  });
}

interface Account {
  readonly id: string;
  readonly key: string;
}

interface Row {
  readonly id: string;
  readonly version: number;
}

interface FollowerOptions {
  readonly account: Account;
  /** One for each replica. */
  readonly clients: readonly LoadClient[];
  readonly recorder: FeedRecorder;
  readonly writers?: number;
  /** Whether to poll until the cursor has passed every row. */
  readonly passes?: boolean;
}

/** The clients of one account: some write, and one mirrors. */
class Follower {
  readonly #options: FollowerOptions;
  readonly #mirror = new Map<string, number>();
  #cursor = "";
  #sent = 0;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  /**
   * Writes and mirrors, until all is quiet and in the mirror, and the cursor is past all if it is to pass.
   * @throws if that takes too long.
   */
  async run(): Promise<void> {
    let writing = true;
    const writers = Array.from({ length: this.#options.writers ?? 1 }, () => this.#write());
    const written = Promise.all(writers).finally(() => (writing = false));
    let deadline = Infinity;
    while (!this.#hasAll() || writing) {
      if (!writing) deadline = Math.min(deadline, performance.now() + POLL_WITHIN_MS);
      if (performance.now() > deadline) throw new Error("The reader of a trace has not come to the end.");
      await this.#poll();
      await setTimeout(POLL_MS);
    }
    await written;
  }

  /** Sends a request to one replica after the other. The status is 0 if its replica was killed. */
  async #send(method: string, path: string, body?: object): Promise<Pick<LoadAnswer, "status" | "body">> {
    const { clients, account } = this.#options;
    const client = clients[this.#sent++ % clients.length]!;
    const request = { method, path, key: account.key, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    return client.send(request).catch(() => ({ status: 0, body: "" }));
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
    const { recorder, account } = this.#options;
    for (let more = true; more;) {
      const sent = this.#cursor;
      const { status, body } = await this.#send("GET", `/candidates?limit=2${sent === "" ? "" : `&cursor=${sent}`}`);
      if (status !== 200) return;
      const page = JSON.parse(body) as { data: Row[]; has_more: boolean; cursor: string };
      recorder.read(account.id, sent, page);
      for (const { id, version } of page.data) this.#mirror.set(id, version);
      this.#cursor = page.cursor;
      more = page.has_more;
    }
  }

  /** Whether nothing waits, and the mirror has every write, with the cursor past it if it is to pass. */
  #hasAll(): boolean {
    const { recorder, account, passes = true } = this.#options;
    if (recorder.waiting(account.id) > 0 || this.#cursor === "") return false;
    const { safe } = decodeCursor(this.#cursor);
    const last = new Map<string, WriteEvent["row"]>();
    for (const event of recorder.events(account.id))
      if (event.type === "write" && event.applied) last.set(event.row.change.slice(16), event.row);
    return [...last].every(
      ([id, { version, change }]) => this.#mirror.get(id) === version && (!passes || change <= safe),
    );
  }
}
