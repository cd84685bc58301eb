import type { Command } from "@commander-js/extra-typings";
import { dueStore } from "../candidates/due-store.ts";
import { CandidateReader } from "../candidates/reader.ts";
import { erasureOf } from "../candidates/erasure.ts";
import { newTypeId } from "../infra/ids.ts";
import { wholeNumber } from "../problems.ts";
import { retentionService } from "../settings/retention.ts";
import { RetentionStore } from "../settings/retention-store.ts";
import type { EraseAfterDays } from "../settings/schema.ts";
import { type CommandContext, numberIn, type Run, YES } from "./command.ts";
import { confirm } from "./dialogue.ts";
import type { Operations } from "./operations.ts";

/** An option cannot be null. */
const NEVER = Infinity;

async function serviceOf(operations: Operations, accountId: string) {
  await (await operations.accountStore()).get(accountId); // throws if there is none
  const { clock, config } = operations;
  const store = new RetentionStore(await operations.mongo(), clock, config.RETENTION_NOTICE_HOURS);
  return retentionService({ store, audit: await operations.auditStore(), clock, newId: newTypeId });
}

async function set(
  operations: Operations,
  context: CommandContext,
  accountId: string,
  { yes, ...days }: { [Of in keyof EraseAfterDays]?: number | undefined } & { yes?: true | undefined },
) {
  const given: Partial<EraseAfterDays> = {};
  for (const of of ["completed", "withdrawn", "inactive"] as const) {
    const value = days[of];
    if (value !== undefined) given[of] = value === NEVER ? null : wholeNumber(`/${of}`, value, 1, 3_650);
  }
  const retention = await serviceOf(operations, accountId);
  const { erase_after_days } = await retention.read(accountId);
  const due = await dueAtOnce(operations, accountId, { ...erase_after_days, ...given });
  const { RETENTION_NOTICE_HOURS: hours } = operations.config;
  const question = `${due} candidates of ${accountId} are due by then, and are erased for good in ${hours} hours. Go on?`;
  await confirm(operations, context, question, { yes, needsYes: true });
  const caller = { accountId, keyId: operations.actor() };
  return retention.change(caller, { erase_after_days: given }, () => undefined);
}

/** Counts the candidates of an account that are due already if it sets these days. */
async function dueAtOnce(operations: Operations, accountId: string, days: EraseAfterDays): Promise<number> {
  const [mongo, now] = [await operations.mongo(), operations.clock.now()];
  let due = 0;
  for await (const { rows } of dueStore(mongo, new CandidateReader(mongo)).pages(accountId, "", "~"))
    for (const row of rows) if (Date.parse(erasureOf(row, { days, changedAt: 0, noticeMs: 0 }) ?? "") <= now) due++;
  return due;
}

const daysIn = (text: string) => (text === "never" ? NEVER : numberIn(text));

export function addRetentionCommands(admin: Command, run: Run): void {
  const retention = admin.command("retention").description("After how many days candidates are erased");
  retention
    .command("show")
    .description("Shows after how many days candidates are erased.")
    .argument("<ACCOUNT_ID>", "account whose settings to show")
    .action((account) => run(async (operations) => (await serviceOf(operations, account)).read(account)));
  retention
    .command("set")
    .description("Sets after how many days candidates are erased.")
    .argument("<ACCOUNT_ID>", "account whose settings to change")
    .option("--completed <DAYS>", "days after completion: 1 to 3650, or never", daysIn)
    .option("--withdrawn <DAYS>", "days after withdrawal: 1 to 3650, or never", daysIn)
    .option("--inactive <DAYS>", "days after the last change of others: 1 to 3650, or never", daysIn)
    .option(...YES)
    .action((account, options) => run((operations, context) => set(operations, context, account, options)));
}
