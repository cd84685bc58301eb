import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "chai";
import { parse } from "yaml";
import { alertsIn, faster, readGroups, ruleFile } from "./support/rules.ts";

const UNIT_TESTS = fileURLToPath(new URL("promtool/", import.meta.url));
const CAUSES = fileURLToPath(new URL("alerts/", import.meta.url));
const PAGE = fileURLToPath(new URL("../../src/docs/alerts.md", import.meta.url));

/** A file of unit tests for promtool, as far as it is read here. */
interface UnitTests {
  tests: { promql_expr_test: { exp_samples: { labels: string }[] }[] }[];
}

describe("the rules of Prometheus", () => {
  const groups = readGroups();
  const alerts = alertsIn(groups);
  const names = alerts.map(({ alert }) => alert);
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), "onboarding-rules-"));
    cpSync(UNIT_TESTS, dir, { recursive: true });
    writeFileSync(join(dir, "rules.yaml"), ruleFile(groups));
    writeFileSync(join(dir, "faster.yaml"), ruleFile(faster(groups, 60)));
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  const promtool = (...args: string[]) => promisify(execFile)("promtool", args, { cwd: dir });

  it("are valid, and so are those on a shorter scale of time", async () => {
    const { stdout } = await promtool("check", "rules", "--lint=all", "--lint-fatal", "rules.yaml", "faster.yaml");
    const count = groups.flatMap(({ rules }) => rules).length;
    expect(stdout.match(new RegExp(`SUCCESS: ${count} rules found`, "g"))).to.have.length(2);
  });

  for (const file of readdirSync(UNIT_TESTS)) {
    it(`give what ${file} expects`, async () => {
      await promtool("test", "rules", file);
    });
  }

  it("have a unit test in which each alert fires", () => {
    const files = readdirSync(UNIT_TESTS).map(
      (file) => parse(readFileSync(join(UNIT_TESTS, file), "utf8")) as UnitTests,
    );
    const expected = files
      .flatMap(({ tests }) => tests.flatMap(({ promql_expr_test }) => promql_expr_test))
      .flatMap(({ exp_samples }) => exp_samples)
      .flatMap(({ labels }) => /alertname="(\w+)"/.exec(labels)?.[1] ?? []);
    expect([...new Set(expected)]).to.have.members(names);
  });

  it("have a test that causes each alert", () => {
    const source = readdirSync(CAUSES).map((file) => readFileSync(join(CAUSES, file), "utf8"));
    const caused = [...source.join("").matchAll(/firing\("(\w+)"\)/g)].map(([, name]) => name);
    expect([...new Set(caused)]).to.have.members(names);
  });

  it("say of each alert how urgent it is, what it means and what to do", () => {
    for (const { alert, labels = {}, annotations = {} } of alerts) {
      expect(labels["severity"], alert).to.be.oneOf(["critical", "warning", "info"]);
      expect(annotations, alert).to.have.all.keys("summary", "description", "action", "runbook_url");
    }
  });

  it("link each alert to its section of the page for operators, which is there", () => {
    // As GitHub and GitLab make the anchor of a heading of one word.
    const anchors = [...readFileSync(PAGE, "utf8").matchAll(/^## (\w+)$/gm)].map(([, title = ""]) =>
      title.toLowerCase(),
    );
    for (const { alert, annotations = {} } of alerts) {
      const [page, anchor = ""] = annotations["runbook_url"]!.split("#");
      expect(page, alert).to.match(/\/src\/docs\/alerts\.md$/);
      expect(anchor, alert).to.equal(alert.toLowerCase());
      expect(anchors, alert).to.include(anchor);
    }
  });

  it("tell installations apart: each aggregate is by namespace and service", () => {
    for (const { alert, record, expr } of groups.flatMap(({ rules }) => rules))
      for (const [aggregate, by] of expr.matchAll(/\b(?:sum|max|min|avg|count|group)\s*(?:by \(([^)]*)\) )?\(/g))
        // A refusal is counted by account, and an account is in one installation.
        if (alert !== "OnboardingAccountAtLimit")
          expect(by?.split(", "), `${aggregate} of ${alert ?? record}`).to.include.members(["namespace", "service"]);
  });

  it("have a section for each alert on the page for operators", () => {
    const [, ...sections] = readFileSync(PAGE, "utf8").split(/^## (?=Onboarding)/m);
    expect(sections.map((section) => section.split("\n")[0])).to.deep.equal(names);
    for (const section of sections) {
      const questions = [...section.matchAll(/^- \*\*(.+?)\*\*/gm)].map(([, question]) => question);
      expect(questions, section).to.deep.equal(["Means:", "Clients see:", "Check:", "Do:"]);
    }
  });
});
