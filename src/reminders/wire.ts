import type { Logger } from "pino";
import type { AccountStore } from "../accounts/store.ts";
import { noMail, type Reminders } from "../candidates/outreach.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { Config } from "../config.ts";
import { type Clock, timestamp } from "../infra/clock.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { Mongo } from "../infra/mongo.ts";
import type { Restored } from "../infra/restore.ts";
import { settingsStores } from "../settings/store.ts";
import { loadAddressHash } from "./address-hash.ts";
import { outboxMailer, smtpMailer } from "./mailer.ts";
import { Pace } from "./pace.ts";
import { plannerOf } from "./plan.ts";
import { replan } from "./replans.ts";
import { rulesReader } from "./rules.ts";
import { reminderSender } from "./sender.ts";
import { spreadOptOuts } from "./spread-opt-outs.ts";
import { type ReminderParts, reminderStores } from "./stores.ts";

interface Shared {
  readonly mongo: Mongo;
  readonly clock: Clock;
  readonly config: Config;
  readonly accounts: AccountStore;
  /** The last restore, if reminders that were due before its end do not go out. */
  readonly restore: { restored(): Restored | undefined };
  readonly random: (bytes: number) => Buffer;
}

/** What is stored of reminders, and by which rules they are planned. The service needs it even if it sends no mail. */
export interface OpenReminders extends Shared, ReminderParts {}

/** @param shared `log`: absent if the rules are only shown. @throws problem store_unavailable */
export async function openReminders(shared: Shared & { readonly log?: Logger }): Promise<OpenReminders> {
  const { mongo, clock, config, random } = shared;
  const stores = reminderStores(mongo, await loadAddressHash(mongo, random), random);
  const rules = rulesReader({
    ...shared,
    ...settingsStores(mongo, clock),
    reminderAccounts: stores.accounts,
    limits: {
      perAccount: config.MAIL_PER_ACCOUNT_PER_DAY,
      newAddresses: config.MAIL_NEW_ADDRESSES_PER_DAY,
      perAddress: config.MAIL_PER_ADDRESS_PER_DAY,
    },
  });
  return { ...shared, stores, rules };
}

/**
 * Returns what plans the reminders of a candidate that is written, or undefined if the service sends no mail.
 * @param isCommand true on the command line. A command plans what a server has planned before, even without the server's
 * SMTP_URL.
 */
export function remindersOf({ config, stores, rules }: OpenReminders, isCommand = false): Reminders | undefined {
  const sendsMail = config.SMTP_URL !== null;
  if (!sendsMail && !isCommand) return undefined;
  return {
    async plannerOf(accountId) {
      const plan = plannerOf(await rules.of(accountId));
      return (record, now) => (sendsMail || record.outreach.rules !== null ? plan : noMail)(record, now);
    },
    optedOut: (accountId, emails) => stores.optOuts.among(accountId, emails),
  };
}

/** What sends reminders, and keeps their plans up to date. */
export type ReminderWork = NonNullable<ReturnType<typeof wireReminders>>;

/** Returns undefined if SMTP_URL is not set, which is logged. */
export function wireReminders(
  parts: OpenReminders,
  dependencies: { readonly candidates: CandidateStore; readonly log: Logger; readonly metrics: Metrics },
) {
  const { config, stores, rules, random, clock } = parts;
  const { candidates, log, metrics } = dependencies;
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
  metrics.readMail = () => stores.budget.total(clock.now());
  return {
    sender: reminderSender({
      ...parts,
      ...dependencies,
      mailer,
      connections,
      mailFrom: MAIL_FROM,
      publicUrl: PUBLIC_URL.replace(/\/+$/, ""),
      newMessageId: () => `${random(16).toString("hex")}@${domain}`,
      newPace: () => new Pace(MAIL_PER_MINUTE),
    }),
    replan: (signal: AbortSignal) => replan({ ...parts, candidates }, signal),
    spreadOptOuts: (signal: AbortSignal) => spreadOptOuts({ candidates, stores }, signal),
    mailer,
    settings: {
      changing: (accountId: string) => stores.accounts.noteChange(accountId, timestamp(clock.now())),
      changed: (accountId: string) => rules.forget(accountId),
    },
  };
}
