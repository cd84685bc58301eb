import type { Command } from "@commander-js/extra-typings";
import { AccountStore } from "../accounts/store.ts";
import { AuditStore } from "../audit/store.ts";
import { sweepStore } from "../candidates/sweep-store.ts";
import { CandidateReader } from "../candidates/reader.ts";
import { erasureOf } from "../candidates/erasure.ts";
import { HOUR_MS } from "../infra/clock.ts";
import { newTypeId } from "../infra/ids.ts";
import { invalid, wholeNumber } from "../problems.ts";
import { retentionService } from "../settings/retention.ts";
import { RetentionStore } from "../settings/retention-store.ts";
import type { EraseAfterDays } from "../settings/schema.ts";
import { type CommandContext, nounOf, numberIn, type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";
import type { Operations } from "./operations.ts";

async function serviceOf(operations: Operations, accountId: string) {
  const { clock, config } = operations;
  const mongo = await operations.mongo();
  await new AccountStore(mongo).get(accountId); // throws if there is none
  const store = new RetentionStore(mongo, clock, config.RETENTION_NOTICE_HOURS);
  return retentionService({ store, audit: new AuditStore(mongo, clock), newId: newTypeId });
}

/** @param given each a number of days as text, or `never`. */
async function set(
  operations: Operations,
  context: CommandContext,
  accountId: string,
  { yes, ...given }: Partial<Record<keyof EraseAfterDays, string>> & { yes?: true },
) {
  const entries = Object.entries(given).map(([of, text]) => {
    if (text === "never") return [of, null];
    if (Number.isNaN(numberIn(text))) throw invalid(`/${of}`, "must be a number of days, 1 to 3,650, or never");
    return [of, wholeNumber(`/${of}`, numberIn(text), 1, 3_650)];
  });
  const erase_after_days = Object.fromEntries(entries) as Partial<EraseAfterDays>;
  const retention = await serviceOf(operations, accountId);
  const days = { ...(await retention.read(accountId)).erase_after_days, ...erase_after_days };
  const mongo = await operations.mongo();
  const { RETENTION_NOTICE_HOURS: hours } = operations.config;
  const then = operations.clock.now() + hours * HOUR_MS;
  let due = 0;
  for await (const { rows } of sweepStore(mongo, new CandidateReader(mongo)).pages(accountId, "", "~"))
    for (const row of rows) if (Date.parse(erasureOf(row, { days, changedAt: 0, noticeMs: 0 }) ?? "") <= then) due++;
  const question = `${due} candidates of ${accountId} will be due in ${hours} hours, and are erased for good then. Go on?`;
  await confirm(operations, context, question, { yes, needsYes: true });
  return retention.change({ accountId, keyId: operations.actor() }, { erase_after_days }, () => undefined);
}

export function addRetentionCommands(admin: Command, run: Run): void {
  const retention = nounOf(admin, "retention", "After how many days candidates are erased");
  retention("show", "Shows after how many days candidates are erased.")
    .argument("<ACCOUNT_ID>", "account whose settings to show")
    .action((account) => run(async (operations) => (await serviceOf(operations, account)).read(account)));
  retention("set", "Sets after how many days candidates are erased.")
    .argument("<ACCOUNT_ID>", "account whose settings to change")
    .option("--completed <DAYS>", "days after completion: 1 to 3650, or never")
    .option("--withdrawn <DAYS>", "days after withdrawal: 1 to 3650, or never")
    .option("--inactive <DAYS>", "days after the last change of others: 1 to 3650, or never")
    .option(...YES)
    .action((account, options) => run((operations, context) => set(operations, context, account, options)));
}
