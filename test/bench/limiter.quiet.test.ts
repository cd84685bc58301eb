import { expect } from "chai";
import { CONTENDERS } from "./contenders.ts";
import { DECIDES_ALL } from "./programs/serve.ts";
import { exitCodeOf } from "./report.ts";
import { limiterRows } from "./rows/limiter.ts";
import { limiterSizeRows } from "./rows/limiter-size.ts";
import { OPTIONS, useBench } from "./use-bench.ts";

describe("the bench of limiters, measuring", function () {
  this.timeout(180_000); // it takes 22 s on two free cores
  const bench = useBench();

  it("measures those that decide rightly, and leaves out one that does not", async () => {
    const chosen = CONTENDERS.filter(({ id }) => ["flexible", "ours", DECIDES_ALL].includes(id));
    const wrong = { id: "wrong", title: "wrong", program: "peers", env: {}, also: "" } as const;
    const { tables, rows, failed } = await limiterRows(bench(), [wrong, ...chosen]);
    const [admitted, refused, promises] = tables.map(
      (table) => new Map(table.rows.map(([title, ...row]) => [title, row])),
    );
    for (const table of [admitted, refused]) {
      expect(table?.get("wrong")?.[0]).to.equal("loses");
      for (const { title } of chosen) expect(Number.parseInt(table?.get(title)?.[0] ?? "", 10), title).to.be.above(0);
    }
    expect(promises?.get("wrong")?.join()).to.contain("it admits 20 requests of a key that may send 5");
    const checked = (title: string) => promises?.get(title)?.slice(0, 3);
    expect(checked("wrong")?.[0]).to.equal("incorrectly");
    expect(checked("ours, log off")).to.deep.equal(["correctly", "5", "5"]);
    expect(checked("Koa + two rate-limiter-flexible consumes")).to.deep.equal(["correctly", "5", "0"]);
    expect(rows.map(({ what }) => what)).to.deep.equal([
      "server CPU, admitted, log off",
      "server CPU, refused, log off",
      "server CPU, a flood of refusals",
      "Redis CPU of a decision",
      "Redis commands of a decision",
      "Redis commands of a refusal",
    ]);
    expect(rows.at(-2)).to.include({ bound: "exactly 1", verdict: "met" });
    // On a busy machine a flood is so slow that Redis decides some of it again.
    expect(Number.parseFloat(rows.at(-1)?.measured ?? "")).to.be.below(0.2);
    expect(failed).to.equal(undefined);
  });

  it("says of a row whose reference decides wrongly that it is not measured", async () => {
    // It has no such endpoint, so it admits nothing.
    const reference = { id: "flexible", title: "the reference", program: "find-one", env: {}, also: "" } as const;
    const section = await limiterRows(bench(), [reference, ...CONTENDERS.filter(({ id }) => id === "ours")]);
    expect(section.rows[0]).to.deep.equal({
      what: "server CPU, admitted, log off",
      bound: "<= 1 x the reference, admitted",
      measured: "the reference decided wrongly",
      verdict: "not measured",
    });
    expect(exitCodeOf([section])).to.equal(2);
  });

  it("has a row for each bound of what one Redis bears, and measures all of them", async () => {
    const { rows } = await limiterSizeRows({ ...bench(), options: { ...OPTIONS, rounds: 1, maxRounds: 1 } });
    expect(rows.map(({ what }) => what)).to.deep.equal([
      "charge.lua inside Redis",
      "Redis memory of an account",
      "p99 of a decision in the 1 s after the hour's edge, 20 accounts",
      "poll by a key last seen 15 minutes ago, server CPU",
      "Redis commands of such a poll",
    ]);
    expect(rows.filter(({ verdict }) => verdict === "not measured")).to.deep.equal([]);
    expect(Number.parseInt(rows[1]?.measured ?? "", 10)).to.be.above(0);
    expect(rows.filter(({ bound }) => bound.startsWith("exactly")).map(({ verdict }) => verdict)).to.deep.equal([
      "met",
    ]);
  });
});
