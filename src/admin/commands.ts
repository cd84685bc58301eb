import type { Command } from "@commander-js/extra-typings";
import type { AccountService } from "../accounts/service.ts";
import { MAX_LISTED } from "../audit/trail.ts";
import { describeConfig } from "../config.ts";
import { SURFACES } from "../limiter/surfaces.ts";
import type { Operations } from "./operations.ts";

/** Does the work of a command with the services. Prints what the work returns, unless undefined, as JSON. */
export type Run = (work: (operations: Operations) => Promise<object | undefined>) => Promise<void>;

/** Adds every command to `admin`, noun by noun, in the order of the help. */
export function addCommands(admin: Command, run: Run): void {
  addAccountCommands(admin, run);
  addKeyCommands(admin, run);
  addGrantCommands(admin, run);
  addLimitCommands(admin, run);
  addOutreachCommands(admin, run);
  addAuditCommands(admin, run);
  addConfigCommand(admin, run);
}

function addAccountCommands(admin: Command, run: Run): void {
  const accounts = admin.command("accounts").description("Accounts, which own keys and candidates");
  const changeStatus = (account: string, change: (service: AccountService) => Promise<object>) =>
    run(async (operations) => {
      const service = await operations.accounts();
      await (await operations.outreach()).noteChange(account);
      return change(service);
    });
  accounts
    .command("create")
    .description("Creates an account.")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action(({ name }) => run(async (operations) => (await operations.accounts()).createAccount({ name })));
  accounts
    .command("list")
    .description("Lists every account, oldest first.")
    .action(() => run(async (operations) => (await operations.accounts()).listAccounts()));
  accounts
    .command("suspend")
    .description("Suspends an account: all its keys are refused at once.")
    .argument("<ACCOUNT_ID>", "account to suspend")
    .action((account) => changeStatus(account, (service) => service.suspendAccount(account)));
  accounts
    .command("resume")
    .description("Ends the suspension of an account.")
    .argument("<ACCOUNT_ID>", "account to resume")
    .action((account) => changeStatus(account, (service) => service.resumeAccount(account)));
  accounts
    .command("announce")
    .summary("Tells the limiter the version of every account.")
    .description(
      "Tells the limiter, in Redis, the version of every account. Run it after MongoDB was restored from a backup, " +
        "and after a command that says that the limiter could not be updated.",
    )
    .action(() => run(async (operations) => (await operations.accounts()).announceAll()));
}

function addKeyCommands(admin: Command, run: Run): void {
  const keys = admin.command("keys").description("API keys of accounts");
  keys
    .command("create")
    .description("Creates a key. Shows its secret, only this once.")
    .requiredOption("--account <ACCOUNT_ID>", "account that the key belongs to")
    .requiredOption("--name <NAME>", "name, at most 200 characters; need not be unique")
    .action(({ account, name }) =>
      run(async (operations) => (await operations.accounts()).createKey({ accountId: account, name })),
    );
  keys
    .command("list")
    .description("Lists the keys of an account, without secrets.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose keys to list")
    .action(({ account }) => run(async (operations) => (await operations.accounts()).listKeys(account)));
  keys
    .command("rotate")
    .summary("Gives a key a new secret, shown only this once.")
    .description("Gives a key a new secret, shown only this once. The old one works until the grace ends.")
    .argument("<KEY_ID>", "key to rotate")
    .requiredOption("--grace-seconds <SECONDS>", "seconds that the old one works: 0 to 7776000 (90 days)", numberIn)
    .action((keyId, { graceSeconds }) =>
      run(async (operations) => {
        const service = await operations.accounts();
        await operations.setClock().catch(() => undefined); // without Redis, the grace ends by this machine's clock
        return service.rotateKey({ keyId, graceSeconds });
      }),
    );
  keys
    .command("revoke")
    .description("Revokes a key for good, at once on every replica.")
    .argument("<KEY_ID>", "key to revoke")
    .action((keyId) => run(async (operations) => (await operations.accounts()).revokeKey(keyId)));
}

function addGrantCommands(admin: Command, run: Run): void {
  const grants = admin.command("grants").description("Grants: requests beyond the limits of one key");
  grants
    .command("create")
    .summary("Lets a key make extra requests, once.")
    .description(
      "Lets a key make extra requests on each of these surfaces, once, while a limit is used up. " +
        "A command with --id can be repeated safely.",
    )
    .requiredOption("--key <KEY_ID>", "key that may make the requests")
    .requiredOption("--surface <SURFACES>", `one or more, with commas: ${SURFACES.join(", ")}`)
    .requiredOption("--amount <REQUESTS>", "extra requests on each surface: 1 to 10000000", numberIn)
    .requiredOption("--expires-in-hours <HOURS>", "hours until the rest expires: above 0, up to 2160", numberIn)
    .requiredOption("--approved-by <NAME>", "who approved it, for the audit")
    .requiredOption("--reason <TEXT>", "why, for the audit")
    .option("--id <GRANT_ID>", "grant_ and up to 64 letters, digits, - or _ (default: a new id)")
    .action(({ key, surface, amount, expiresInHours, approvedBy, reason, id }) =>
      run(async (operations) => {
        const terms = { keyId: key, amount, expiresInHours, approvedBy, reason, ...(id !== undefined && { id }) };
        const service = await operations.grants();
        const [first = "", ...others] = new Set(surface.split(",").map((name) => name.trim()));
        if (others.length === 0) return service.create({ ...terms, surface: first });
        return service.createForSurfaces({ ...terms, surface: first }, [first, ...others]);
      }),
    );
  grants
    .command("list")
    .description("Lists the grants of an account, with what remains.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose grants to list")
    .action(({ account }) => run(async (operations) => (await operations.grants()).list(account)));
  grants
    .command("revoke")
    .description("Revokes a grant at once, on every replica.")
    .argument("<GRANT_ID>", "grant to revoke")
    .action((grant) => run(async (operations) => (await operations.grants()).revoke(grant)));
}

function addLimitCommands(admin: Command, run: Run): void {
  const limits = admin.command("limits").description("Limits of accounts and keys");
  limits
    .command("show")
    .description("Shows what an account and its keys have used.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose limits to show")
    .option("--watch", "show a table, and keep it up to date until Ctrl-C")
    .action(({ account, watch }) =>
      run(async (operations) => {
        const reader = await operations.limits();
        if (watch !== true) return reader.read(account);
        const { watchLimits } = await import("./watch.ts");
        await watchLimits(() => reader.read(account), process.stdout);
        return undefined;
      }),
    );
}

function addOutreachCommands(admin: Command, run: Run): void {
  const outreach = admin.command("outreach").description("Reminders to candidates and referees");
  outreach
    .command("show")
    .description("Shows a candidate's reminders: planned and sent.")
    .argument("<CANDIDATE_ID>", "candidate whose reminders to show")
    .action((candidate) => run(async (operations) => (await operations.outreach()).show(candidate)));
  outreach
    .command("pause")
    .description("Stops the reminders of an account.")
    .requiredOption("--account <ACCOUNT_ID>", "account that must send none")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).pause(account)));
  outreach
    .command("resume")
    .description("Sends an account's reminders again, also those now due.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may send again")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).resume(account)));
  outreach
    .command("opt-outs")
    .description("Lists who wants no more messages, without addresses.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose messages they refused")
    .action(({ account }) => run(async (operations) => (await operations.outreach()).optOuts(account)));
  outreach
    .command("allow")
    .description("Lets an account write to an opted-out address again.")
    .requiredOption("--account <ACCOUNT_ID>", "account that may write again")
    .requiredOption("--address <EMAIL>", "address whose owner had opted out")
    .action(({ account, address }) => run(async (operations) => (await operations.outreach()).allow(account, address)));
  outreach
    .command("raise")
    .summary("Sets for a time how much an account may send a day.")
    .description("Sets, for a time, how many messages an account may send a day, and how many to new addresses.")
    .requiredOption("--account <ACCOUNT_ID>", "account whose limits to set")
    .requiredOption("--per-day <MESSAGES>", "messages a day: 0 to 1000000", numberIn)
    .requiredOption("--new-per-day <MESSAGES>", "messages a day to new addresses: 0 to 1000000", numberIn)
    .requiredOption("--expires-in-hours <HOURS>", "hours until it ends: above 0, up to 2160", numberIn)
    .requiredOption("--approved-by <NAME>", "who approved it, for the audit")
    .requiredOption("--reason <TEXT>", "why, for the audit")
    .action(({ account, ...request }) =>
      run(async (operations) => (await operations.outreach()).raise(account, request)),
    );
  outreach
    .command("top")
    .description("Lists the accounts that sent most messages.")
    .requiredOption("--hours <HOURS>", "how far to look back, in hours: 1 to 720", numberIn)
    .action(({ hours }) => run(async (operations) => (await operations.outreach()).top(hours)));
}

function addAuditCommands(admin: Command, run: Run): void {
  const audit = admin.command("audit").description("Audit: who changed what, and when");
  audit
    .command("list")
    .description("Lists who changed what and when, newest first.")
    .option("--account <ACCOUNT_ID>", "only changes of this account")
    .option("--limit <NUMBER>", `maximum number of changes: 1 to ${MAX_LISTED}`, numberIn, 50)
    .action(({ account, limit }) => run(async (operations) => (await operations.audit()).list(limit, account)));
}

function addConfigCommand(admin: Command, run: Run): void {
  admin
    .command("config")
    .description("Lists every setting: its value, default and meaning.")
    .action(() => run(({ config }) => Promise.resolve({ object: "list", data: describeConfig(config) })));
}

/** Parses a plain decimal number. Returns NaN for anything else; the service then says what it must be. */
function numberIn(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}
