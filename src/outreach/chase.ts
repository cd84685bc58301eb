import type { Logger } from "pino";
import { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Config } from "../config.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { ChaseObserver } from "../settings/service.ts";
import { Chaser } from "./chaser.ts";
import { Claimer } from "./claimer.ts";
import { Composer } from "./compose.ts";
import { hourOf } from "./mail-budget.ts";
import { type Mailer, outboxMailer, smtpMailer } from "./mailer.ts";
import { OptOutSpreader } from "./opt-out-spreader.ts";
import { Pace } from "./pace.ts";
import { Recorder } from "./recorder.ts";
import { Replanner } from "./replanner.ts";
import type { RulesReader } from "./rules.ts";
import type { OutreachStores } from "./stores.ts";

export interface Chase {
  readonly chaser: Chaser;
  readonly replanner: Replanner;
  readonly optOuts: OptOutSpreader;
  readonly mailer: Mailer;
  readonly settings: ChaseObserver;
}

interface Dependencies {
  readonly config: Pick<Config, "SMTP_URL" | "MAIL_FROM" | "PUBLIC_URL" | "MAIL_PER_MINUTE" | "MAIL_CONNECTIONS">;
  readonly mongo: Mongo;
  readonly candidates: CandidateStore;
  readonly rules: RulesReader;
  readonly outreachStores: OutreachStores;
  readonly random: (bytes: number) => Buffer;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wires what sends reminders. Undefined if SMTP_URL is not set: then the chase is off, which is logged once. */
export function wireChase(dependencies: Dependencies): Chase | undefined {
  const { config, mongo, candidates: store, rules, random, clock, log, metrics } = dependencies;
  const stores = dependencies.outreachStores;
  const { accounts, links, optOuts, addresses } = stores;
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL, MAIL_PER_MINUTE, MAIL_CONNECTIONS } = config;
  if (SMTP_URL === null || PUBLIC_URL === null) {
    log.info("SMTP_URL is not set: no reminder is sent to candidates and referees");
    return undefined;
  }
  const plans = new ChaseStore(mongo);
  const connections = Math.min(MAIL_CONNECTIONS, MAIL_PER_MINUTE); // more would only wait for their turn
  const mailer = SMTP_URL.startsWith("file:")
    ? outboxMailer(SMTP_URL, (path) => log.info({ path }, "wrote a reminder"))
    : smtpMailer(SMTP_URL, new URL(PUBLIC_URL).hostname, { connections });
  const domain = MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1);
  const composer = new Composer({ addresses, links, mailFrom: MAIL_FROM, publicUrl: PUBLIC_URL.replace(/\/+$/, "") });
  const newMessageId = () => `${random(16).toString("hex")}@${domain}`;
  const claimer = new Claimer({ store, rules, stores, composer, newMessageId, clock });
  const newPace = () => new Pace(MAIL_PER_MINUTE);
  const sending = { claimer, composer, mailer, connections, newPace };
  const recorder = new Recorder({ stores, candidates: plans });
  const chaser = new Chaser({ due: plans, rules, recorder, ...sending, clock, log, metrics });
  const unknown = { messages: NaN, largest: NaN };
  metrics.watchMail(() => stores.budget.days.total(hourOf(clock.now()).day).catch(() => unknown));
  const settings: ChaseObserver = {
    changing: (accountId) => accounts.noteChange(accountId, timestamp(clock.now())),
    changed: (accountId) => rules.forget(accountId),
  };
  return {
    chaser,
    replanner: new Replanner({ store, plans, accounts, rules, clock }),
    optOuts: new OptOutSpreader({ store, candidates: plans, optOuts, addresses }),
    mailer,
    settings,
  };
}
