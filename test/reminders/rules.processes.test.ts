import { tracingChannel } from "node:diagnostics_channel";
import { mock } from "node:test";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { AccountStore } from "../../src/accounts/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { type OperationContext, STORE_CHANNEL } from "../../src/infra/store-channel.ts";
import { ReminderAccountStore, SETTLED_MS } from "../../src/reminders/account-store.ts";
import { type AccountRules, RULES_KEPT_MS, rulesReader, type RulesReader } from "../../src/reminders/rules.ts";
import type { Assistant } from "../../src/settings/schema.ts";
import { settingsStores } from "../../src/settings/store.ts";
import { answerOf, serversOf } from "../admin/support.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { mailSettings, useMailServer } from "./mail-server.ts";

const NOTES = "outreach_accounts";
const RAISE = "--per-day 7 --new-per-day 5 --expires-in-hours 1 --approved-by ann --reason fair".split(" ");
const ASSISTANT: Partial<Assistant> = {
  enabled: false,
  display_name: "Acme Onboarding",
  reply_to: "help@example.com",
  language: "de",
  channels: ["sms"],
  chase_interval_hours: 7,
  instructions: "Call us.",
};

interface Change {
  /** Makes the change, through the API or as an operator. */
  readonly make: () => Promise<unknown>;
  readonly shown: (rules: AccountRules) => unknown;
  /** What is shown from then on. */
  readonly after: unknown;
}

describe("What another replica's reminders go by", function () {
  this.timeout(60_000);
  const mail = useMailServer();
  const service = useOwnService(() => mailSettings(mail));
  const account = useAccount(service);

  const patch = async (path: string, body: object) =>
    expect((await account.client.patch(path, body)).status).to.equal(200);
  const admin = (...words: string[]) => answerOf(words, serversOf(service.config));
  const outreach = (word: string, ...more: string[]) => admin("outreach", word, "--account", account.id, ...more);

  function otherReplica(): RulesReader {
    const { mongo } = service.operators;
    const clock = new SharedClock();
    const limits = { perAccount: 100, newAddresses: 50, perAddress: 5 };
    const reminderAccounts = new ReminderAccountStore(mongo);
    return rulesReader({
      ...settingsStores(mongo, clock),
      reminderAccounts,
      accounts: new AccountStore(mongo),
      limits,
      restore: { restored: () => undefined },
      clock,
    });
  }

  /** Returns the collections that were written, of those which decide about messages, in order. */
  async function writtenDuring(run: () => Promise<unknown>): Promise<string[]> {
    const written: string[] = [];
    const channel = tracingChannel<unknown, OperationContext>(STORE_CHANNEL);
    const noted = (context: unknown) => {
      const { command, collection = "" } = context as OperationContext;
      const decides = /^(assistant_settings|quiet_hours_settings|accounts|outreach_accounts)$/.test(collection);
      if (decides && !command.startsWith("find")) written.push(collection);
    };
    channel.start.subscribe(noted);
    await run().finally(() => channel.start.unsubscribe(noted));
    return written;
  }

  const changes: Record<string, Change> = {
    "PATCH /settings/quiet-hours": {
      make: () => patch("/settings/quiet-hours", { enabled: true, start: "20:00" }),
      shown: ({ rules }) => rules.quietHours.start,
      after: "20:00",
    },
    "outreach raise": {
      make: () => outreach("raise", ...RAISE),
      shown: ({ limits }) => [limits.perAccount, limits.newAddresses],
      after: [7, 5],
    },
    "outreach pause": { make: () => outreach("pause"), shown: ({ rules }) => rules.enabled, after: false },
    "accounts suspend": {
      make: () => admin("accounts", "suspend", account.id),
      shown: ({ suspended }) => suspended,
      after: true,
    },
  };
  for (const [name, after] of Object.entries(ASSISTANT))
    changes[`PATCH /settings/assistant with ${name}`] = {
      make: () => patch("/settings/assistant", { [name]: after }),
      shown: ({ assistant }) => assistant[name as keyof Assistant],
      after,
    };

  for (const [name, { make, shown, after }] of Object.entries(changes))
    it(`follows at once, and is noted before it is written: ${name}`, async () => {
      const other = otherReplica();
      expect(shown(await other.current(account.id))).not.to.deep.equal(after);
      const written = await writtenDuring(make);
      expect(shown(await other.current(account.id))).to.deep.equal(after);
      expect(written[0]).to.equal(NOTES);
    });

  /** As the replanner does a minute after a change. */
  const forgetNotes = () => service.operators.mongo.db.collection(NOTES).updateMany({}, { $unset: { changed_at: "" } });

  for (const [name, run] of Object.entries({
    "outreach resume": (word: string) => outreach(word),
    "accounts resume": (word: string) => admin("accounts", word, account.id),
  }))
    it(`follows at once, and is noted before it is written: ${name}`, async () => {
      await run(name === "outreach resume" ? "pause" : "suspend");
      await forgetNotes();
      const other = otherReplica();
      expect((await other.current(account.id)).rules.enabled).to.equal(false);
      const written = await writtenDuring(() => run("resume"));
      expect((await other.current(account.id)).rules.enabled).to.equal(true);
      expect(written[0]).to.equal(NOTES);
    });

  it("is read again before the note of a change may be gone", async () => {
    const other = otherReplica();
    await other.current(account.id);
    await patch("/settings/assistant", { display_name: "Acme" });
    await forgetNotes();
    expect((await other.current(account.id)).sender, "it is not read for each message").to.equal("Test");
    await setTimeout(2); // the cache reads the time again after 1 ms, by a timer that was set before this one
    const now = performance.now.bind(performance);
    const later = mock.method(performance, "now", () => now() + SETTLED_MS / 2);
    const { sender } = await other.current(account.id).finally(() => later.mock.restore());
    expect(sender).to.equal("Acme");
    expect(RULES_KEPT_MS).to.be.at.most(SETTLED_MS / 2);
  });
});
