import type { Logger } from "pino";
import type { AccountStore } from "../accounts/store.ts";
import type { AuditTrail } from "../audit/trail.ts";
import { CandidateReader } from "../candidates/reader.ts";
import type { CandidateStore, Reminders } from "../candidates/store.ts";
import { type Config, mailLimitsOf } from "../config.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { SettingsObserver } from "../settings/service.ts";
import { settingsStores } from "../settings/store.ts";
import { loadAddressHash } from "./address-hash.ts";
import { Claimer } from "./claimer.ts";
import { Composer } from "./composer.ts";
import { ReminderControl } from "./control.ts";
import { hourOf } from "./mail-budget.ts";
import { MailControl } from "./mail-control.ts";
import { type Mailer, outboxMailer, smtpMailer } from "./mailer.ts";
import { OptOutSpreader } from "./opt-out-spreader.ts";
import { Pace } from "./pace.ts";
import { GlanceStore } from "./pages/glance-store.ts";
import { Visits } from "./pages/visits.ts";
import { PlanStore } from "./plan-store.ts";
import { plannerOf } from "./plan.ts";
import { Recorder } from "./recorder.ts";
import { Replanner } from "./replanner.ts";
import { RulesReader } from "./rules.ts";
import { ReminderSender } from "./sender.ts";
import { ReminderStores } from "./stores.ts";

/** What is stored of reminders, and by which rules they are planned. The service needs it even if it sends no mail. */
export interface ReminderParts {
  readonly mongo: Mongo;
  readonly clock: Clock;
  readonly config: Config;
  readonly accounts: AccountStore;
  readonly random: (bytes: number) => Buffer;
  readonly stores: ReminderStores;
  readonly plans: PlanStore;
  readonly rules: RulesReader;
}

/** @param shared `log`: absent if the rules are only shown. @throws problem store_unavailable */
export async function openReminders(
  shared: Omit<ReminderParts, "stores" | "plans" | "rules"> & { readonly log?: Logger },
): Promise<ReminderParts> {
  const { mongo, clock, config, accounts, random, log } = shared;
  const stores = new ReminderStores(mongo, await loadAddressHash(mongo, random), random);
  const rules = new RulesReader({
    ...settingsStores(mongo, clock),
    reminderAccounts: stores.accounts,
    accounts,
    limits: mailLimitsOf(config),
    clock,
    ...(log !== undefined && { log }),
  });
  return { mongo, clock, config, accounts, random, stores, plans: new PlanStore(mongo), rules };
}

/** Returns what reminders add to writes of candidates. Undefined if the service sends no mail. */
export function remindersOf({ config, stores, rules }: ReminderParts): Reminders | undefined {
  if (config.SMTP_URL === null) return undefined;
  return {
    plannerOf: async (accountId) => plannerOf(await rules.of(accountId)),
    optedOut: (accountId, emails) => stores.optOuts.among(accountId, emails),
  };
}

export function wireVisits({ stores, rules, clock, mongo }: ReminderParts, candidates: CandidateStore): Visits {
  return new Visits({ store: candidates, glances: new GlanceStore(mongo), stores, rules, clock });
}

/** Wires what operators do with reminders. */
export function wireControls(
  { mongo, config, accounts, stores, plans, rules, clock }: ReminderParts,
  audit: AuditTrail,
) {
  const shared = { stores, accounts, audit, clock };
  const candidates = new CandidateReader(mongo);
  return {
    reminders: new ReminderControl({ ...shared, candidates, plans, rules, sendsMail: config.SMTP_URL !== null }),
    mail: new MailControl(shared),
  };
}

/** What sends reminders, and keeps their plans up to date. */
export interface ReminderWork {
  readonly sender: ReminderSender;
  readonly replanner: Replanner;
  readonly optOuts: OptOutSpreader;
  readonly mailer: Mailer;
  readonly settings: SettingsObserver;
}

interface Dependencies {
  readonly candidates: CandidateStore;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wires what sends reminders. Undefined if SMTP_URL is not set, which is logged. */
export function wireReminders(
  parts: ReminderParts,
  { candidates, log, metrics }: Dependencies,
): ReminderWork | undefined {
  const { config, stores, plans, rules, random, clock } = parts;
  const { accounts, links, optOuts, addresses } = stores;
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL, MAIL_PER_MINUTE, MAIL_CONNECTIONS } = config;
  if (SMTP_URL === null || PUBLIC_URL === null) {
    log.info("SMTP_URL is not set: no reminder is sent to candidates and referees");
    return undefined;
  }
  const connections = Math.min(MAIL_CONNECTIONS, MAIL_PER_MINUTE); // more would only wait for their turn
  const mailer = SMTP_URL.startsWith("file:")
    ? outboxMailer(SMTP_URL, (path) => log.info({ path }, "wrote a reminder"))
    : smtpMailer(SMTP_URL, new URL(PUBLIC_URL).hostname, { connections });
  const domain = MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1);
  const composer = new Composer({ addresses, links, mailFrom: MAIL_FROM, publicUrl: PUBLIC_URL.replace(/\/+$/, "") });
  const newMessageId = () => `${random(16).toString("hex")}@${domain}`;
  const claimer = new Claimer({ store: candidates, rules, stores, composer, newMessageId, clock });
  const recorder = new Recorder({ stores, candidates: plans });
  const newPace = () => new Pace(MAIL_PER_MINUTE);
  const sending = { claimer, composer, mailer, connections, newPace, recorder };
  const unknown = { messages: NaN, largest: NaN };
  metrics.watchMail(() => stores.budget.days.total(hourOf(clock.now()).day).catch(() => unknown));
  return {
    sender: new ReminderSender({ due: plans, rules, ...sending, clock, log, metrics }),
    replanner: new Replanner({ store: candidates, plans, accounts, rules, clock }),
    optOuts: new OptOutSpreader({ store: candidates, candidates: plans, optOuts, addresses }),
    mailer,
    settings: {
      changing: (accountId) => accounts.noteChange(accountId, timestamp(clock.now())),
      changed: (accountId) => rules.forget(accountId),
    },
  };
}
