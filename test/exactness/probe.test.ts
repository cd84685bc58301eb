import { expect } from "chai";
import { Redis } from "ioredis";
import { type Lie, startLiar } from "../load/liar.ts";
import { scrape } from "../support/metrics.ts";
import { useRedisServer } from "../support/servers.ts";
import { useOwnService } from "../support/use-service.ts";
import { answerOf, mistakeOf, serversOf } from "../admin/support.ts";

interface Result {
  exact: boolean | null;
  reasons: string[];
}

describe("admin limits probe", function () {
  this.timeout(30_000);
  const redis = useRedisServer();
  const service = useOwnService(() => ({ REDIS_URL: redis.url }));

  const settings = () => ({
    ...serversOf(service.config),
    LIMIT_WINDOW_SECONDS: "86400",
    ADMIN_ACTOR: "exactness-probe",
  });
  const probe = (url = service.url) =>
    answerOf(["limits", "probe", "--url", url, "--settle-seconds", "0"], settings()) as Promise<Result>;

  /** Returns the id of the probe's account. */
  async function account(): Promise<string> {
    const { data } = await service.operators.accounts.listAccounts();
    const [found, ...more] = data.filter(({ name }) => name === "Exactness probe");
    expect(more).to.deep.equal([]);
    return found!.id;
  }

  async function inRedis<T>(run: (client: Redis) => Promise<T>): Promise<T> {
    const client = new Redis(redis.url).on("error", () => undefined);
    try {
      return await run(client);
    } finally {
      client.disconnect();
    }
  }

  /** Empties the ledger, as the first charge of a new window does. */
  async function nextWindow(): Promise<void> {
    const id = await account();
    await inRedis((client) => client.del(`{${id}}:ledger`));
  }

  async function probeLiar(lie: Lie): Promise<Result> {
    const liar = await startLiar(service.url, lie);
    try {
      return await probe(liar.url);
    } finally {
      liar.close();
    }
  }

  /** Runs the probe, and calls `disturb` once the probe has sent a request. */
  async function duringProbe(disturb: (client: Redis, ledger: string) => Promise<unknown>): Promise<Result> {
    const ledger = `{${await account()}}:ledger`;
    return inRedis(async (client) => {
      let running = true;
      const probing = probe().finally(() => (running = false));
      while (running && (await client.hget(ledger, "settings")) === null);
      await disturb(client, ledger);
      return probing;
    });
  }

  /** Scrapes until the gauge has this value. A scrape starts the read whose result the next one shows. */
  async function expectExported(value: number | undefined): Promise<void> {
    let found: number | undefined = NaN;
    for (let scrapes = 0; scrapes < 100 && found !== value; scrapes++)
      found = (await scrape(service)).value("onboarding_limits_exact");
    expect(found).to.equal(value);
  }

  it("exports nothing before the first run", async () => {
    for (let scrapes = 0; scrapes < 3; scrapes++) {
      const { names } = await scrape(service);
      expect([...names].filter((name) => name.startsWith("onboarding_limits"))).to.deep.equal([]);
    }
  });

  it("finds the service exact, and exports 1", async () => {
    expect(await probe()).to.deep.equal({ object: "limits_probe", exact: true, reasons: [] });
    await expectExported(1);
  });

  it("uses the same account and keys each time, and changes nothing in it", async () => {
    await nextWindow();
    expect((await probe()).exact).to.equal(true);
    const id = await account();
    const audited = (await service.operators.audit.list(50, id)).data.map(
      ({ action, actor }) => `${action} by ${actor}`,
    );
    const by = "by exactness-probe";
    expect(audited).to.deep.equal([`keys create ${by}`, `keys create ${by}`, `accounts create ${by}`]);
    const candidates = service.operators.mongo.db.collection("candidates");
    expect(await candidates.findOne({ account: id })).to.equal(null);
  });

  it("finds a service inexact that admits one too many, and exports 0", async () => {
    await nextWindow();
    const { exact, reasons } = await probeLiar("one too many");
    expect(exact).to.equal(false);
    expect(reasons.join()).to.match(/^settings: key [12] was admitted 21 times. Its limit is 20.$/);
    await expectExported(0);
  });

  it("finds a service inexact that admits one too few, and exports 0", async () => {
    await nextWindow();
    const { exact, reasons } = await probeLiar("one too few");
    expect(exact).to.equal(false);
    expect(reasons.join()).to.match(/^settings: key [12] was admitted 19 times. Its limit is 20.$/);
    await expectExported(0);
  });

  it("finds a service inexact whose account's count lost a request that its key's count has", async () => {
    await nextWindow();
    const { exact, reasons } = await duringProbe((client, ledger) => client.hincrby(ledger, "settings", -1));
    expect(reasons).to.deep.equal(["settings: the account is used up, and did not refuse: key."]);
    expect(exact).to.equal(false);
  });

  it("goes on with a new key if one was revoked", async () => {
    await nextWindow();
    const [first] = (await service.operators.accounts.listKeys(await account())).data;
    await service.operators.accounts.revokeKey(first!.id);
    expect((await probe()).exact).to.equal(true);
    await expectExported(1);
  });

  it("refuses to settle for what is no number, or longer than its mark in Redis lasts", async () => {
    for (const seconds of ["soon", "61"])
      expect(
        await mistakeOf(["limits", "probe", "--url", service.url, "--settle-seconds", seconds], settings()),
      ).to.contain("must be a whole number from 0 to 60");
  });

  describe("cannot tell, and exports nothing,", () => {
    beforeEach(nextWindow);

    async function expectUnknown(running: Promise<Result>, reason: RegExp): Promise<void> {
      const { exact, reasons } = await running;
      expect(reasons.join()).to.match(reason);
      expect(exact).to.equal(null);
      await expectExported(undefined);
    }

    it("if a request got 503", () => expectUnknown(probeLiar("503 once"), /^PATCH \/settings\/assistant: 503/));

    it("if the window was used by an earlier run", async () => {
      expect((await probe()).exact).to.equal(true);
      await expectUnknown(probe(), /^The account was used in this window already/);
    });

    it("if nobody listens at the URL", () => expectUnknown(probe("http://127.0.0.1:1"), /^fetch failed/));

    it("if another run goes on", async () => {
      const id = await account();
      await inRedis((client) => client.hset(`{${id}}:witness`, "mark", "of another"));
      await expectUnknown(probe(), /^Another run goes on/);
      expect(await inRedis((client) => client.pttl(`{${id}}:witness`)), "it cannot stay").to.be.within(1, 120_000);
      await inRedis((client) => client.del(`{${id}}:witness`));
    });

    it("if a key has a grant", async () => {
      const key = (await service.operators.accounts.listKeys(await account())).data.find(
        ({ status }) => status === "active",
      );
      const terms = { surface: "pack", amount: 1, expiresInHours: 1, approvedBy: "Ann", reason: "a test" };
      const { id } = await service.operators.grants.create({ ...terms, keyId: key!.id });
      await expectUnknown(probe(), /^A key of the account has a grant/);
      await service.operators.grants.revoke(id);
    });

    it("if Redis lost its data meanwhile", () =>
      expectUnknown(
        duringProbe((client) => client.flushall()),
        /^Redis lost data/,
      ));

    it("if Redis was restarted meanwhile", () =>
      expectUnknown(
        duringProbe(() => redis.restart()),
        /^(Redis was restarted|Connection is closed|connect E|Stream)/,
      ));
  });
});
