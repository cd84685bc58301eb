import { readFileSync } from "node:fs";
import { expect } from "chai";
import type { Redis } from "ioredis";
import { termsOf } from "../grants/support.ts";
import { scrape } from "../support/metrics.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { useStarted } from "../support/use-started.ts";
import { asking, FORMS } from "./redis-forms.ts";

const GUIDE = readFileSync(new URL("../../src/docs/operating.md", import.meta.url), "utf8");
/** The rules that the operators' guide has for the service's user. */
const RULES = /^ACL SETUSER \S+ on >\S+ (.+)$/m.exec(GUIDE)?.[1]?.split(" ") ?? [];
const WITHOUT_INFO = RULES.filter((rule) => rule !== "+info");
/** Commands of the list that this deployment does not use: those of other forms, and of a Cluster with several nodes. */
const UNUSED: Record<string, string[]> = {
  "a single server": ["cluster|slots", "cluster|info", "asking", "readonly", "readwrite"],
  "a cluster": ["select", "asking", "readonly", "readwrite"],
};

const FIND = { db_system_name: "mongodb", db_operation_name: "find" };

/** The number of the level in the log. */
const WARN = 40;

/** Starts a Redis whose user may do only that, and a service that uses it. */
function useRestricted(form: string, rules: readonly string[]) {
  const reached = useStarted("Redis", FORMS[form]!, (started) => started.stop());
  const ofAdmin = <T>(work: (admin: Redis) => Promise<T>) => asking(reached.server.url, work);
  before(() =>
    ofAdmin(async (admin) => {
      await admin.call("ACL", "SETUSER", "ann", "reset", "on", ">one", ...rules);
      await admin.call("CONFIG", "RESETSTAT");
    }),
  );
  const service = useOwnService(() => ({ REDIS_URL: reached.url }));
  const account = useAccount(service);
  return { service, account, ofAdmin };
}

describe("the service, with a Redis user who may use the keys of accounts only,", () => {
  const { service, account } = useRestricted(
    "a single server",
    RULES.map((rule) => (rule.startsWith("~") ? "~{acct_0*" : rule)),
  );

  it("serves, and warns once that it will not notice a restore", async () => {
    const rounds = async () => (await scrape(service)).value("db_client_operation_duration_seconds_count", FIND) ?? 0;
    const before = await rounds();
    while ((await rounds()) < before + 3) expect((await account.client.get("/candidates")).status).to.equal(200);
    const warned = service.log.filter(({ msg }) => String(msg).includes("no restore of MongoDB is noticed"));
    expect(warned).to.have.length(1);
  });
});

describe("the service, with a Redis user who may do only what the operators' guide lists,", () => {
  for (const [form, unused] of Object.entries(UNUSED)) {
    describe(`on ${form}`, () => {
      const { service, account, ofAdmin } = useRestricted(form, RULES);

      it("charges, draws on grants, shows limits and obeys operators, and needs each of these commands", async () => {
        const { client, keyId, id } = account;
        const write = async () => (await client.patch("/settings/assistant", {})).status;
        const { accounts, grants } = service.operators;
        const grant = await grants.create(termsOf(keyId, { surface: "settings", amount: 1 }));
        const statuses: number[] = [];
        for (let n = 0; n < 22; n++) statuses.push(await write());
        expect(statuses).to.deep.equal([...Array.from({ length: 21 }, () => 200), 429]);
        expect((await client.get("/limits")).status).to.equal(200);
        await grants.revoke(grant.id);
        await accounts.setStatus(id, "suspended");
        expect(await write()).to.equal(403);
        await accounts.setStatus(id, "active");
        expect(await ofAdmin((admin) => admin.call("ACL", "LOG")), "what was refused").to.deep.equal([]);
        const used = await ofAdmin((admin) => admin.info("commandstats"));
        const commands = RULES.filter((rule) => rule.startsWith("+")).map((rule) => rule.slice(1));
        const idle = commands.filter((name) => !used.includes(`cmdstat_${name}:`));
        expect(idle).to.have.members(unused);
      });
    });
  }

  for (const [user, rules] of [
    ["the guide lists, but not INFO", WITHOUT_INFO],
    ["usual restrictions leave", ["~*", "+@all", "-@dangerous", "-@admin"]],
  ] as const) {
    describe(`or what ${user},`, () => {
      const { service, account } = useRestricted("a single server", rules);

      it("starts and serves, and says that it knows neither the version nor the maxmemory-policy", async () => {
        expect((await account.client.get("/candidates")).status).to.equal(200);
        const warned = () => service.log.filter(({ level }) => level === WARN).map(({ msg }) => String(msg));
        while (!warned().some((text) => text.startsWith("Redis does not tell its maxmemory-policy")))
          await scrape(service);
        expect(warned()[0]).to.match(/may not run INFO/);
        expect((await scrape(service)).value("redis_maxmemory_policy_unsafe")).to.satisfy(Number.isNaN);
      });
    });
  }
});
