import { expect } from "chai";
import { limitsTable } from "../../src/admin/table.ts";
import type { AccountLimits } from "../../src/limits/account-limits.ts";

const ESCAPE = new RegExp(`${String.fromCharCode(27)}\\[(\\d+)m`, "g");
const COLOURS: Record<string, string> = { 1: "bold", 2: "dim", 31: "red", 32: "green", 33: "yellow" };

/** Returns the text with the name of each colour in brackets, from where it begins. */
const named = (text: string) =>
  text.replaceAll(ESCAPE, (_, code: string) => (COLOURS[code] ? `[${COLOURS[code]}]` : ""));

/** Returns the table of an account with these uses of a limit of 1000. */
function table(uses: readonly number[], more: Partial<AccountLimits> = {}, options = { width: 60, colours: false }) {
  const surfaces = uses.map((used) => ({
    surface: "list" as const,
    account: { limit: 1000, used, remaining: 1000 - used },
    reset: 5,
    reset_at: "2026-11-21T15:00:00.000Z",
  }));
  const limits: AccountLimits = {
    object: "account_limits",
    account_id: "acct_1",
    name: "Acme",
    status: "active",
    window_seconds: 7200,
    surfaces,
    keys: [],
    ...more,
  };
  return limitsTable(limits, options.width, options.colours);
}

describe("the table of an account's limits", () => {
  const { FORCE_COLOR } = process.env;
  before(() => void (process.env["FORCE_COLOR"] = "1"));
  after(() => {
    if (FORCE_COLOR === undefined) delete process.env["FORCE_COLOR"];
    else process.env["FORCE_COLOR"] = FORCE_COLOR;
  });

  it("is yellow from seven tenths of a limit on, and red from nine tenths on", () => {
    const lines = table([0, 699, 700, 899, 900, 1000, 1200], {}, { width: 60, colours: true }).map(named);
    expect(lines.slice(3, 10).map((line) => /\[(red|yellow|green)\]/.exec(line)?.[1])).to.deep.equal([
      undefined, // nothing is used, so nothing is painted
      "green",
      "yellow",
      "yellow",
      "red",
      "red",
      "red",
    ]);
    expect(lines[3]).to.equal(`  list      [dim]${"░".repeat(16)}          0 / 1000`);
    expect(lines[9], "nothing is left to paint").to.equal(`  list      [red]${"█".repeat(16)}       1200 / 1000`);
  });

  it("has a bar for every limit: empty only if it is unused, full only if it is used up", () => {
    const bars = table([0, 10, 750, 990, 1000]).slice(3, 8);
    expect(bars.map((line) => line.replaceAll(/[^█░]/g, ""))).to.deep.equal(
      [0, 1, 12, 15, 16].map((filled) => "█".repeat(filled) + "░".repeat(16 - filled)),
    );
  });

  it("says the window in seconds if it is not a whole number of hours, and no control characters", () => {
    const [headline] = table([1], { name: "Acme\u001b[2J", status: "suspended", window_seconds: 90 });
    expect(headline).to.equal("Acme[2J  acct_1  suspended  window of 90 s ends 15:00:00 UTC, in 0:05");
  });

  it("has its headline in the colour of the status, and bold titles", () => {
    const coloured = (status: "active" | "suspended") =>
      table([1], { status }, { width: 60, colours: true }).map(named).slice(0, 3);
    const window = "window of 2 h ends 15:00:00 UTC, in 0:05";
    const title = `[bold]${"account".padEnd(48)}`;
    expect(coloured("active").map((line) => line.trimEnd())).to.deep.equal([
      `Acme  acct_1  [green]active  ${window}`,
      "",
      title.trimEnd(),
    ]);
    expect(coloured("suspended")[0]).to.equal(`Acme  acct_1  [red]suspended  ${window}`);
  });

  it("has no bar for a limit of nothing", () => {
    const surfaces = [
      {
        surface: "pack" as const,
        account: { limit: 0, used: 0, remaining: 0 },
        reset: 60,
        reset_at: "2026-11-21T15:00:00.000Z",
      },
    ];
    expect(table([], { surfaces })).to.deep.equal([
      "Acme  acct_1  active  window of 2 h ends 15:00:00 UTC, in 1:00",
      "",
      "account",
      `  pack      ${"░".repeat(16)}             0 / 0`,
      "",
    ]);
  });

  it("has keys of different heights side by side, with cut names and no control characters", () => {
    const key = (id: string, uses: number[], name: string) => ({
      id,
      name,
      status: "active" as const,
      surfaces: uses.map((used) => ({
        surface: "list" as const,
        key: { limit: 10, used, remaining: 10 - used },
        reset: 5,
        reset_at: "2026-11-21T15:00:00.000Z",
      })),
      grants: [],
    });
    const grant = { object: "grant", id: "grant_1", surface: "list", amount: 5000, remaining: 1000 } as const;
    const keys = [
      key("key_1", [10], "a name of more than 14"),
      key("key_2", [5, 0], "\u0007b"),
      { ...key(`key_${"x".repeat(40)}`, [], "long"), grants: [{ ...grant, expires_at: "2026-11-22T15:00:00.000Z" }] },
    ];
    const bar = (filled: number) => "█".repeat(filled) + "░".repeat(16 - filled);
    expect(table([500], { keys }, { width: 100, colours: false }).slice(2)).to.deep.equal([
      `${"account".padEnd(48)}a name of more key_1`,
      `  list      ${bar(8)}        500 / 1000    list      ${bar(16)}           10 / 10`,
      "",
      `${"b key_2".padEnd(48)}long key_${"x".repeat(37)}`,
      `  list      ${bar(8)}            5 / 10    grant     ${bar(13)}       4000 / 5000`,
      `  list      ${bar(0)}            0 / 10`,
      "",
    ]);
    const height = (width: number) => table([500], { keys }, { width, colours: false }).length;
    expect([height(95), height(200)], "one block below the other, and all side by side").to.deep.equal([15, 6]);
    for (const width of [96, 150, 200])
      for (const line of table([500], { keys }, { width, colours: false })) expect(line.length).to.be.at.most(width);
  });
});
