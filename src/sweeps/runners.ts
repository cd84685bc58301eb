import type { Logger } from "pino";
import { auditLog } from "../audit/log.ts";
import type { AuditStore } from "../audit/store.ts";
import { dueStore } from "../candidates/due-store.ts";
import type { Config } from "../config.ts";
import type { CandidateStore } from "../candidates/store.ts";
import type { ContentStore } from "../content/store.ts";
import type { IdempotencyStore } from "../idempotency/store.ts";
import { linesIn } from "../infra/log.ts";
import type { Metrics } from "../infra/metrics.ts";
import type { ReminderWork } from "../reminders/wire.ts";
import type { ReminderStores } from "../reminders/stores.ts";
import type { UsageStore } from "../usage/store.ts";
import type { Restore } from "../infra/restore.ts";
import type { Nudger } from "../webhooks/nudger.ts";
import { LeaseStore, type LeaseStoreOptions } from "./lease-store.ts";
import { SweepRunner } from "./runner.ts";
import { leftOverMail } from "./mail.ts";
import { retention, type RetentionOptions } from "./retention.ts";
import { erasures, expiries, idempotencyRecords, leftOverBytes, missingWords, type Sweep } from "./sweep.ts";

/** Pause between two passes of reminders, replans or opt-outs, in milliseconds. */
const REMINDERS_REST_MS = 2_000;
/** Maximum time that a replica that dies during such a pass blocks the others, in milliseconds. */
const REMINDERS_LEASE_MS = 6_000;

interface Dependencies extends LeaseStoreOptions, Omit<RetentionOptions, "clock" | "due"> {
  readonly candidates: CandidateStore;
  readonly content: ContentStore;
  readonly idempotency: IdempotencyStore;
  /** Undefined if no reminders are sent. */
  readonly reminders: ReminderWork | undefined;
  readonly reminderStores: ReminderStores;
  readonly usage: UsageStore;
  readonly audit: AuditStore;
  readonly config: Config;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly restore: Restore;
  readonly nudger: Nudger;
}

/** Creates the runners of the sweeps. Those that people wait for have one each, so that no other sweep delays them. */
export function runners(dependencies: Dependencies): SweepRunner[] {
  const { clock, candidates, content, eraser, idempotency, reminders, reminderStores, usage } = dependencies;
  const { audit, config, skewMs, log, metrics, restore } = dependencies;
  const shared = { leases: new LeaseStore(dependencies), log, metrics, restore };
  const due = dueStore(dependencies.mongo, candidates.reader);
  const sweeps: Sweep[] = [
    expiries(candidates.batches, clock),
    leftOverBytes(content, candidates.reader),
    erasures(candidates.reader, eraser),
    idempotencyRecords(idempotency, clock),
    leftOverMail(reminderStores, clock),
    missingWords(due),
    { name: "old_usage", run: (signal) => usage.removeOld(clock.now(), signal) },
  ];
  const usual = [
    new SweepRunner({ ...shared, name: "sweeps", sweeps }),
    new SweepRunner({ ...shared, name: "retention", sweeps: [retention({ ...dependencies, due })] }),
  ];
  if (config.AUDIT_LOG === "stdout") {
    const run = auditLog(audit, { clock, lagMs: config.STORE_TIMEOUT_MS + skewMs, lines: linesIn(log) });
    usual.push(new SweepRunner({ ...shared, name: "audit_log", sweeps: [{ name: "audit_log", run }] }));
  }
  const times = { leaseMs: REMINDERS_LEASE_MS, restMs: REMINDERS_REST_MS };
  const ofOne = (sweep: Sweep) => new SweepRunner({ ...shared, ...times, name: sweep.name, sweeps: [sweep] });
  usual.push(ofOne({ name: "nudges", run: (signal) => dependencies.nudger.run(signal) }));
  if (reminders === undefined) return usual;
  const { sender, replan, spreadOptOuts } = reminders;
  return [
    ...usual,
    ofOne({ name: "replans", run: replan }),
    ofOne({ name: "opt_outs", run: spreadOptOuts }),
    ofOne({ name: "reminders", run: (signal) => sender.run(signal) }),
  ];
}
