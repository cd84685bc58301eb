import type { Logger } from "pino";
import { ChaseStore } from "../candidates/chase-store.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Config } from "../config.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { ChaseObserver } from "../settings/service.ts";
import { Chaser } from "./chaser.ts";
import { Composer } from "./compose.ts";
import { type Mailer, outboxMailer, smtpMailer } from "./mailer.ts";
import { Pace } from "./pace.ts";
import { Replanner } from "./replanner.ts";
import type { RulesReader } from "./rules.ts";
import type { OutreachStores } from "./stores.ts";

export interface Chase {
  readonly chaser: Chaser;
  readonly replanner: Replanner;
  readonly mailer: Mailer;
  readonly settings: ChaseObserver;
}

interface Dependencies {
  readonly config: Pick<Config, "SMTP_URL" | "MAIL_FROM" | "PUBLIC_URL" | "MAIL_PER_MINUTE">;
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
  const { accounts, links } = dependencies.outreachStores;
  const { SMTP_URL, MAIL_FROM, PUBLIC_URL, MAIL_PER_MINUTE } = config;
  if (SMTP_URL === null || PUBLIC_URL === null) {
    log.info("SMTP_URL is not set: no reminder is sent to candidates and referees");
    return undefined;
  }
  const plans = new ChaseStore(mongo);
  const mailer = SMTP_URL.startsWith("file:")
    ? outboxMailer(SMTP_URL, (path) => log.info({ path }, "wrote a reminder"))
    : smtpMailer(SMTP_URL);
  const domain = MAIL_FROM.slice(MAIL_FROM.lastIndexOf("@") + 1);
  const chaser = new Chaser({
    store,
    due: plans,
    rules,
    stores: dependencies.outreachStores,
    mailer,
    composer: new Composer({ links, mailFrom: MAIL_FROM, publicUrl: PUBLIC_URL.replace(/\/+$/, "") }),
    newPace: () => new Pace(MAIL_PER_MINUTE),
    newMessageId: () => `${random(16).toString("hex")}@${domain}`,
    clock,
    log,
    metrics,
  });
  const settings: ChaseObserver = {
    changing: (accountId) => accounts.noteChange(accountId, timestamp(clock.now())),
    changed: (accountId) => rules.forget(accountId),
  };
  return { chaser, replanner: new Replanner({ store, plans, accounts, rules, clock }), mailer, settings };
}
