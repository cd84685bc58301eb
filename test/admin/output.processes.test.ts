import { expectSnapshot, Names, type Shown } from "../support/snapshot.ts";
import { useDatabase } from "../support/use-service.ts";
import { testConfig } from "../support/service.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { admin, serversOf } from "./support.ts";

interface Step {
  /** What the operator types. `{name}` stands for the id that an earlier command has printed. */
  readonly line: string;
  /** The name under which later lines find the id of the response, or of its first row. */
  readonly keep?: string;
}

/** Numbers that tell when the current window ends. */
const RESET = /("reset(?:_at)?": )("[^"]+"|\d+)/g;
const GRANT = "--amount 100 --expires-in-hours 24 --approved-by Kim";

/** Commands that reach the servers, one after the other. */
const COMMANDS: readonly Step[] = [
  { line: "accounts list" },
  { line: "accounts create --name Acme", keep: "account" },
  { line: "accounts create --name" },
  { line: "accounts create --name=" },
  { line: "accounts suspend {account}" },
  { line: "accounts suspend {account}" },
  { line: "accounts resume {account}" },
  { line: "accounts resume acct_nobody" },
  { line: "keys create --account {account} --name ats", keep: "key" },
  { line: "keys create --account acct_nobody --name ats" },
  { line: "keys create --account {account} --name second", keep: "second" },
  { line: "keys rotate {key} --grace-seconds 60" },
  { line: "keys rotate {key} --grace-seconds soon" },
  { line: "keys rotate {key} --grace-seconds 6x" },
  { line: "keys rotate {key} --grace-seconds x6" },
  { line: "keys rotate {key} --grace-seconds 1e1" },
  { line: "keys rotate {key} --grace-seconds 9999999" },
  { line: "keys rotate key_nobody --grace-seconds 0" },
  { line: "keys revoke {second}" },
  { line: "keys revoke {second}" },
  { line: "keys rotate {second} --grace-seconds 0" },
  { line: "keys list --account {account}" },
  { line: `grants create --key {key} --surface create ${GRANT} --reason Backfill`, keep: "grant" },
  { line: `grants create --key {key} --surface create,start ${GRANT} --reason Backfill --id grant_move` },
  { line: `grants create --key {key} --surface create,start ${GRANT} --reason Backfill --id grant_move` },
  { line: `grants create --key {key} --surface create,start ${GRANT} --reason Other --id grant_move` },
  { line: `grants create --key {key} --surface sleep ${GRANT} --reason Backfill` },
  { line: `grants create --key {second} --surface create ${GRANT} --reason Backfill` },
  { line: "grants create --key {key} --surface create --amount 0 --expires-in-hours 1e9 --approved-by= --reason=" },
  { line: "grants list --account {account}" },
  { line: "grants revoke {grant}" },
  { line: "grants revoke {grant}" },
  { line: "grants revoke grant_nobody" },
  { line: "limits show --account {account}" },
  { line: "limits show --account acct_nobody" },
  { line: "outreach pause --account {account}" },
  { line: "outreach pause --account {account}" },
  { line: "outreach resume --account {account}" },
  { line: "outreach pause --account acct_nobody" },
  { line: "outreach show cand_nobody" },
  { line: "audit list --account {account} --limit 2" },
  { line: "audit list --limit 0" },
  { line: "audit list --limit many" },
  { line: "audit list --limit 1x" },
  { line: "audit list --limit x1" },
  { line: "audit list --limit 1e1" },
  { line: "audit list --limit 12 --account acct_nobody" },
];

/** Lines that no command understands. They reach no server. */
const MISTAKES: readonly Step[] = [
  { line: "" },
  { line: "keys" },
  { line: "keys creat" },
  { line: "key list" },
  { line: "frobnicate now" },
  { line: "help" },
  { line: "keys list --help" },
  { line: "grants list" },
  { line: "keys list ats --account x" },
  { line: "keys list --acount x" },
  { line: "keys revoke" },
  { line: "keys revoke key_1 key_2" },
  { line: "config --all" },
  { line: "limits show --account x --watch=yes" },
  { line: "grants create --key x" },
  { line: "candidates import people.csv" },
  { line: "candidates import --help" },
  { line: "candidates export --help" },
  { line: "candidates export --account x --format xml" },
  { line: "audit export --help" },
  { line: "audit export --since yesterday" },
];

/** The snapshots were reviewed, as those of the API were (test/responses). */
describe("what operators read", function () {
  this.timeout(60_000); // many commands, one after the other
  const database = useDatabase();

  /** Runs lines one after the other. */
  async function shownOf(steps: readonly Step[], env: Record<string, string>): Promise<Shown[]> {
    const names = new Names();
    const kept = new Map<string, string>();
    const shown: Shown[] = [];
    for (const { line, keep } of steps) {
      const filled = line.replaceAll(/\{(\w+)\}/g, (whole, name: string) => kept.get(name) ?? whole);
      const { code, stdout, stderr } = await admin(filled.split(" ").filter(Boolean), env);
      if (keep !== undefined) kept.set(keep, (JSON.parse(stdout) as { id: string }).id);
      const output = { code, stdout: names.in(stdout.replaceAll(RESET, '$1"<reset>"')), stderr: names.in(stderr) };
      shown.push({ title: line, ...output });
    }
    return shown;
  }

  it("equals the snapshot that was reviewed: commands", async () => {
    const config = testConfig();
    const MONGODB_URL = withDatabase(config.MONGODB_URL ?? "", database.db.databaseName);
    const env = { ...serversOf({ ...config, MONGODB_URL }), ADMIN_ACTOR: "kim", LIMIT_WINDOW_SECONDS: "86400" };
    expectSnapshot(new URL("commands.snapshot.json", import.meta.url), await shownOf(COMMANDS, env));
  });

  it("equals the snapshot that was reviewed: mistakes", async () => {
    expectSnapshot(new URL("mistakes.snapshot.json", import.meta.url), await shownOf(MISTAKES, {}));
  });
});
