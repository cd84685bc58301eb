import { expect } from "chai";
import { describeConfig, readConfig } from "../../src/config.ts";
import { createLog } from "../../src/infra/log.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { withoutCredentials } from "../../src/urls.ts";

describe("REDIS_URL", () => {
  it("is shown without any of its passwords", () => {
    const url = "rediss+sentinel://ann:one@h1/limits?sentinelUsername=sen&sentinelPassword=two";
    const shown = "rediss+sentinel://…@h1/limits?sentinelUsername=…&sentinelPassword=…";
    expect(withoutCredentials(url)).to.equal(shown);
    const table = describeConfig(readConfig({ REDIS_URL: url }));
    expect(table.find(({ name }) => name === "REDIS_URL")?.value).to.equal(shown);
  });

  it("is reported as unusable within seconds, without its password, if no server listens there", async () => {
    const warnings: unknown[] = [];
    const log = { warn: (fields: object, message: string) => warnings.push({ ...fields, message }) };
    const failure = await connectRedis({ url: "redis://ann:secret@127.0.0.1:1", timeoutMs: 100, log }).catch(
      (error: Error) => error,
    );
    expect(warnings, "the caller logs the error").to.deep.equal([]);
    expect(failure).to.be.an("error");
    expect((failure as Error).message).to.equal(
      "Redis at redis://…@127.0.0.1:1 cannot be used: not ready within 5000 ms; connect ECONNREFUSED 127.0.0.1:1. Check REDIS_URL.",
    );
  }).timeout(8_000);

  it("never shows its password in the error or the log if Redis refuses the password", async () => {
    const wrong = new URL(process.env.REDIS_URL ?? "");
    wrong.username = "nobody";
    wrong.password = "s3cret-of-nobody";
    let logged = "";
    const log = createLog("debug", { write: (line) => void (logged += line) });
    const failure = (await connectRedis({ url: wrong.href, timeoutMs: 100, log }).catch(
      (error: Error) => error,
    )) as Error;
    expect(failure.message).to.contain("WRONGPASS");
    expect(failure.message + logged).not.to.contain("s3cret");
  }).timeout(8_000);
});
