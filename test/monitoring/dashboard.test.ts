import { expect } from "chai";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { answerOf, serversOf } from "../admin/support.ts";
import { useMailServer } from "../reminders/mail-server.ts";
import { LoadClient } from "../support/load.ts";
import { accountWithKeys } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { useRedisServer } from "../support/servers.ts";
import { useProcesses } from "../support/use-service.ts";
import { filledIn, overlap, readDashboard } from "./support/dashboard.ts";
import { JOB, NAMESPACE, SCRAPE_SECONDS, SERVICE, usePrometheus } from "./support/prometheus.ts";
import { namesIn } from "./support/promql.ts";
import { readGroups } from "./support/rules.ts";
import { startTraffic } from "./support/traffic.ts";

/** More requests than a key may send, but only on the surfaces whose limit is small. */
const ROUNDS = 25;
/** What kube-state-metrics exports. */
const OF_THE_CLUSTER = { metrics: ["kube_deployment_spec_replicas", "kube_service_info"], labels: ["deployment"] };

describe("the dashboard", () => {
  const dashboard = readDashboard();
  const panels = dashboard.panels.filter(({ type }) => type !== "row");
  const filled = (expr: string) => filledIn(expr, { scrapeSeconds: SCRAPE_SECONDS });
  const queries = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => filled(expr)));
  const annotations = dashboard.annotations.list.map(({ expr }) => expr);

  const redis = useRedisServer();
  const mail = useMailServer();
  const service = useProcesses(() => ({
    REDIS_URL: redis.url,
    REPLICAS: 2,
    SMTP_URL: mail.url,
    MAIL_FROM: "jobs@example.com",
    PUBLIC_URL: "https://hire.example.com",
  }));
  const prometheus = usePrometheus(() => ({ targets: { [JOB]: service.opsUrl }, times: 60 }));
  let began: number;

  // Touches everything that has a panel: all surfaces, refusals of both levels, a reminder, an outage and its end.
  before(async () => {
    await prometheus.until(`up{job="${JOB}"} == 1`);
    began = Date.now() / 1000;
    await answerOf(["limits", "probe", "--url", service.url], {
      ...serversOf(service.config),
      LIMIT_WINDOW_SECONDS: "86400",
      ADMIN_ACTOR: "probe",
    });
    const { keys } = await accountWithKeys(service, 3);
    const load = new LoadClient(service.url, 4);
    const created = await keys[0]!.client.post("/candidates", { email: "ada@example.com", documents: ["Passport"] });
    const send = async (round: number) => {
      const { key } = keys[round % keys.length]!.client;
      for (const surface of SURFACES) await load.send(REQUESTS[surface](key, created.body.id));
    };
    for (let round = 0; round < ROUNDS; round++) await send(round);
    await mail.received(1);
    for (let round = 0; round < ROUNDS; round++) await send(0);
    await prometheus.until("limiter_account_refusals > 0");
    const traffic = startTraffic(service.url, REQUESTS.list(keys[0]!.client.key, created.body.id), 100);
    await redis.kill();
    await prometheus.firing("OnboardingLimiterUnavailable");
    await redis.restart();
    await prometheus.quiet("OnboardingLimiterUnavailable");
    await traffic.stop();
    load.close();
  });

  for (const { title, targets = [] } of panels) {
    it(`shows ${title}`, async () => {
      for (const { expr, legendFormat } of targets) {
        const series = await prometheus.range(filled(expr), began);
        const shown = series.filter(({ values }) => values.some(([, value]) => Number.isFinite(Number(value))));
        expect(shown, expr).not.to.have.length(0);
        for (const [, label = ""] of legendFormat.matchAll(/\{\{(\w+)\}\}/g))
          expect(new Set(shown.map(({ metric }) => metric[label] ?? "")), `${label} of ${expr}`).not.to.deep.equal(
            new Set([""]),
          );
      }
    });
  }

  it("marks when alerts fired", async () => {
    for (const expr of annotations) {
      const fired = (await prometheus.range(expr, began)).map(({ metric }) => metric["alertname"]);
      expect(fired).to.include("OnboardingLimiterUnavailable");
    }
  });

  it("offers the namespaces to choose from, and their Services", async () => {
    const definitions = dashboard.templating.list.flatMap(({ definition = [] }) => definition);
    expect(definitions).to.deep.equal([
      `label_values(up{job="${JOB}"}, namespace)`,
      `label_values(up{job="${JOB}", namespace=~"$namespace"}, service)`,
    ]);
    expect(await prometheus.labelValues("namespace", `up{job="${JOB}"}`)).to.deep.equal([NAMESPACE]);
    expect(await prometheus.labelValues("service", `up{job="${JOB}", namespace=~".*"}`)).to.deep.equal([SERVICE]);
  });

  it("and the rules use only metrics and labels that are exported", async () => {
    const rules = readGroups().flatMap((group) => group.rules);
    const recorded = rules.flatMap(({ record = [] }) => record);
    const { metrics, labels } = namesIn([...queries, ...annotations, ...rules.map(({ expr }) => expr)]);
    const exported = await prometheus.exported();
    const isExported = (name: string) =>
      [name, name.replace(/_(bucket|count|sum)$/, "")].some((n) => exported.metrics.has(n));
    const unknown = [...metrics].filter((name) => !recorded.includes(name) && !isExported(name));
    expect(metrics.size).to.be.above(20);
    expect(unknown.filter((name) => !["up", "ALERTS", ...OF_THE_CLUSTER.metrics].includes(name))).to.deep.equal([]);
    const unknownLabels = [...labels].filter((name) => !exported.labels.has(name));
    expect(unknownLabels.filter((name) => !OF_THE_CLUSTER.labels.includes(name))).to.deep.equal([]);
  });

  it("has a description and a unit for each panel, and no panels that overlap", () => {
    for (const { title, description, fieldConfig } of panels) {
      expect(description, title).to.match(/\.$/);
      expect(fieldConfig?.defaults.unit, title).to.be.a("string");
    }
    for (const member of ["id", "title"] as const)
      expect(new Set(dashboard.panels.map((panel) => panel[member]))).to.have.property("size", dashboard.panels.length);
    const covered = panels.filter((panel) => panels.some((other) => other !== panel && overlap(panel, other)));
    expect(covered.map(({ title }) => title)).to.deep.equal([]);
  });
});
