import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
import { textOf } from "../../src/infra/text-format.ts";
import type { Decision, Verdict } from "../../src/limiter/decision.ts";
import { Observer } from "../../src/limiter/observer.ts";
import { Scrape } from "../support/metrics.ts";

describe("the limiter's decisions in the metrics", () => {
  it("say what each verdict counts against", async () => {
    const scopes: Record<Verdict, string> = {
      admitted: "",
      granted: "grant",
      account_exhausted: "account",
      key_exhausted: "key",
      suspended: "account",
      revoked: "key",
      outdated: "key",
      replaced: "key",
    };
    const metrics = new Metrics();
    const observer = new Observer(metrics);
    const verdicts = Object.keys(scopes) as Verdict[];
    for (const verdict of verdicts) observer.decided({ surface: "create", verdict } as Decision, performance.now());
    const scrape = new Scrape(await textOf([metrics.registry]));
    const counted = (verdict: Verdict) =>
      scrape.value("limiter_decisions_total", { surface: "create", verdict, scope: scopes[verdict] });
    expect(verdicts.filter((verdict) => counted(verdict) !== 1)).to.deep.equal([]);
  });
});
