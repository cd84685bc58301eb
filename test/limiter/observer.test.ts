import { expect } from "chai";
import { Metrics } from "../../src/infra/metrics.ts";
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
      outdated: "key",
      replaced: "key",
    };
    const metrics = new Metrics();
    const observer = new Observer(metrics);
    const verdicts = Object.keys(scopes) as Verdict[];
    for (const verdict of verdicts) observer.decided({ surface: "create", verdict } as Decision, performance.now());
    const scrape = new Scrape(await metrics.registry.metrics());
    const counted = (verdict: Verdict) =>
      scrape.value("limiter_decisions_total", { surface: "create", verdict, scope: scopes[verdict] });
    expect(verdicts.filter((verdict) => counted(verdict) !== 1)).to.deep.equal([]);
  });

  it("count a repeated refusal twice: among all decisions, and apart", async () => {
    const metrics = new Metrics();
    const observer = new Observer(metrics);
    observer.repeated({ surface: "start", verdict: "key_exhausted" } as Decision);
    observer.repeated({ surface: "start", verdict: "account_exhausted" } as Decision);
    observer.repeated({ surface: "start", verdict: "account_exhausted" } as Decision);
    const scrape = new Scrape(await metrics.registry.metrics());
    const counted = (verdict: Verdict, scope: string) => [
      scrape.value("limiter_repeated_refusals_total", { surface: "start", scope }),
      scrape.value("limiter_decisions_total", { surface: "start", verdict, scope }),
    ];
    expect(counted("key_exhausted", "key")).to.deep.equal([1, 1]);
    expect(counted("account_exhausted", "account")).to.deep.equal([2, 2]);
  });

  it("do not take a repeated refusal for an answer: it ends no outage, and says nothing about Redis's speed", async () => {
    const metrics = new Metrics();
    const observer = new Observer(metrics);
    observer.unanswered("start", performance.now());
    observer.repeated({ surface: "start", verdict: "key_exhausted" } as Decision);
    observer.unanswered("start", performance.now());
    const scrape = new Scrape(await metrics.registry.metrics());
    expect(scrape.value("limiter_outages_total")).to.equal(1);
    expect(scrape.value("limiter_decision_duration_seconds_count")).to.equal(2);
  });
});
