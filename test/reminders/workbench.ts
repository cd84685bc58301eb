import { author } from "../support/records.ts";
import { newDraft, started } from "../../src/candidates/edits.ts";
import { newDocument } from "../../src/candidates/documents.ts";
import type { CandidateRecord } from "../../src/candidates/record.ts";
import { CandidateStore, type Edit } from "../../src/candidates/store.ts";
import { encode, type Stored } from "../../src/candidates/stored.ts";
import { newAccount } from "../../src/accounts/account.ts";
import { newTypeId } from "../../src/infra/ids.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { Metrics } from "../../src/infra/metrics.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { type ReminderSender, reminderSender, type ReminderSenderOptions } from "../../src/reminders/sender.ts";
import type { Mailer, Outcome } from "../../src/reminders/mailer.ts";
import type { Message } from "../../src/reminders/message.ts";
import { plannerOf } from "../../src/reminders/plan.ts";
import { replan } from "../../src/reminders/replans.ts";
import { type RulesReader, rulesReader } from "../../src/reminders/rules.ts";
import { type ReminderStores, reminderStores } from "../../src/reminders/stores.ts";
import type { Assistant, QuietHours } from "../../src/settings/schema.ts";
import { useDatabase } from "../support/use-service.ts";
import { forwardTo } from "../support/use-started.ts";
import { START, startedCandidate } from "./support.ts";

export interface Given {
  readonly email?: string | null;
  readonly documents?: readonly string[];
  /** Their addresses. */
  readonly references?: readonly string[];
}

/** The sender of reminders over a real store, with a clock, settings and a mail server that the test moves. */
export class Workbench {
  readonly accountId = newTypeId("acct");
  readonly sent: Message[] = [];
  readonly log: object[] = [];
  readonly metrics = new Metrics();
  readonly stores: ReminderStores;
  readonly candidates: CandidateStore;
  readonly rules: RulesReader;
  readonly #mongo: Mongo;
  /** Each look at the clock takes a millisecond, as each write has a time of its own. */
  readonly #clock = { now: () => this.now++ };
  now = START;
  assistant: Partial<Assistant> = {};
  quietHours: Partial<QuietHours> = {};
  status: "active" | "suspended" = "active";
  readonly limits = { perAccount: 1_000, newAddresses: 1_000, perAddress: 1_000 };
  /** What the mail server does with each message. */
  deliver: (message: Message) => Outcome | Promise<Outcome> = () => ({ kind: "sent", code: "250" });
  mailWorks = true;
  /** How often the mail server was asked whether it works. */
  asked = 0;

  constructor(mongo: Mongo) {
    this.#mongo = mongo;
    const clock = this.#clock;
    const addresses = new AddressHash(Buffer.alloc(32));
    this.stores = reminderStores(mongo, addresses, (bytes) => Buffer.alloc(bytes, newTypeId("req")));
    const settings = (values: () => object) => ({
      get: () => Promise.resolve({ version: 1, updated_at: null, values: values() }),
    });
    this.rules = rulesReader({
      assistant: settings(() => this.assistant),
      quietHours: settings(() => this.quietHours),
      reminderAccounts: this.stores.accounts,
      accounts: { get: (id) => Promise.resolve({ ...newAccount(id, "Acme", ""), status: this.status }) },
      limits: this.limits,
      restore: { restored: () => undefined },
      clock,
      log: { warn: (fields: object) => void this.log.push(fields) },
    });
    this.candidates = new CandidateStore(mongo, clock, {
      plannerOf: async (accountId) => plannerOf(await this.rules.of(accountId)),
      optedOut: (accountId, emails) => this.stores.optOuts.among(accountId, emails),
    });
  }

  prepare(): Promise<void> {
    return createIndexes(this.#mongo.db, [this.candidates.reader, this.stores]);
  }

  /** Changes the assistant's settings, as the service does: it notes the change first. */
  async configure(assistant: Partial<Assistant>): Promise<void> {
    await this.stores.accounts.noteChange(this.accountId, new Date(this.now).toISOString());
    this.assistant = assistant;
  }

  /** Makes one pass of the replans. */
  replan(signal: AbortSignal): Promise<number> {
    const { candidates, stores, rules } = this;
    return replan({ candidates, stores, rules, clock: this.#clock }, signal);
  }

  /** Another replica's sender, or this one's. */
  sender(options: Partial<ReminderSenderOptions> = {}): ReminderSender {
    const mailer: Mailer = {
      send: async (message) => {
        const outcome = await this.deliver(message);
        if (outcome.kind === "sent" || outcome.kind === "unconfirmed") this.sent.push(message);
        return outcome;
      },
      fault: () => {
        this.asked++;
        return Promise.resolve(this.mailWorks ? undefined : { code: "ECONNECTION", step: "CONN" });
      },
      close: () => undefined,
    };
    const note = (fields: object) => void this.log.push(fields);
    return reminderSender({
      candidates: this.candidates,
      rules: this.rules,
      stores: this.stores,
      clock: this.#clock,
      mailFrom: "jobs@example.com",
      publicUrl: "https://hire.example.com",
      newMessageId: () => `${newTypeId("req")}@example.com`,
      mailer,
      connections: 5,
      newPace: () => ({ turn: (signal) => Promise.resolve(!signal.aborted) }),
      log: { info: note, warn: note },
      metrics: this.metrics,
      pauseMs: 0,
      ...options,
    });
  }

  /** Adds a candidate that is started now. Returns its id. */
  async candidate({ email = "ada@example.com", documents = [], references = [] }: Given): Promise<string> {
    const now = new Date(this.now).toISOString();
    const facts = { now, content: undefined, started: false };
    const draft = newDraft(
      { email, name: "Ada", references: references.map((address) => ({ email: address })) },
      {
        id: newTypeId("cand"),
        accountId: this.accountId,
        documents: documents.map((name) => newDocument({ name }, { id: newTypeId("doc"), ...facts })),
        newId: newTypeId,
        now,
      },
    );
    const { id } = await this.candidates.insert(draft, author());
    await this.change(id, started);
    return id;
  }

  /** Adds many candidates that were started at START, each made by `given`, in one write. */
  async fill(count: number, given: (n: number) => Partial<CandidateRecord>): Promise<void> {
    const stored = Array.from({ length: count }, (_, n) =>
      encode(startedCandidate({ id: newTypeId("cand"), accountId: this.accountId, ...given(n) }), START),
    );
    await this.#mongo.db.collection<Stored>("candidates").insertMany(stored);
  }

  change(id: string, edit: Edit): Promise<CandidateRecord> {
    return this.candidates.change(author(this.accountId), id, edit);
  }

  read(id: string): Promise<CandidateRecord> {
    return this.candidates.reader.get(this.accountId, id);
  }
}

/** Gives each test of the `describe` that calls this an empty database and a Workbench of its own. */
export function useWorkbench(): { readonly mongo: Mongo; readonly bench: Workbench } {
  const mongo = useDatabase();
  let bench: Workbench | undefined;
  beforeEach(async () => {
    await mongo.db.dropDatabase();
    bench = new Workbench(mongo);
    await bench.prepare();
  });
  return { mongo, bench: forwardTo("The workbench", () => bench) };
}
