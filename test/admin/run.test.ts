import { expect } from "chai";
import { admin, mistakeOf } from "./support.ts";

/** Runs a command line that reaches no server, and returns what it prints on standard output. */
const shown = async (...args: string[]) => {
  const { code, stdout, stderr } = await admin(args, {});
  expect({ code, stderr }).to.deep.equal({ code: 0, stderr: "" });
  return stdout;
};
const mistake = (...args: string[]) => mistakeOf(args, {});

describe("the help of the command line", () => {
  it("is shown in any of three ways, and also beside a command", async () => {
    const all = await shown("help");
    expect(all).to.include("  keys rotate ").and.include("  config ");
    for (const args of [["--help"], ["-h"]]) expect(await shown(...args)).to.equal(all);
    const ofKeys = await shown("keys", "--help");
    for (const args of [
      ["help", "keys"],
      ["keys", "help"],
    ])
      expect(await shown(...args)).to.equal(ofKeys);
    expect(await shown("keys", "rotate", "-h")).to.equal(await shown("keys", "help", "rotate"));
  });

  it("fits a terminal of 80 columns: one line for each command, and a page for each", async () => {
    const all = await shown("help");
    const commands = [...all.matchAll(/^ {2}(\w+(?: [\w-]+)?) {2,}\S.*\.$/gm)].map(([, name = ""]) => name.split(" "));
    expect(commands).to.have.length.of.at.least(27);
    const pages = await Promise.all(commands.map((words) => shown(...words, "--help")));
    for (const line of [all, ...pages].join("\n").split("\n")) expect(line.length, line).to.be.at.most(80);
    commands.forEach((words, index) =>
      expect(pages[index]).to.match(new RegExp(`^Usage: admin ${words.join(" ")}\\b`)),
    );
  });
});

describe("a mistake on the command line", () => {
  it("names the near command or option, and what to write", async () => {
    expect(await mistake("keys", "creat")).to.match(
      /^Unknown command 'creat' \(Did you mean create\?\) Write: admin k/,
    );
    expect(await mistake("kyes", "list")).to.match(/^Unknown command 'kyes' \(Did you mean keys\?\) Write: admin acc/);
    expect(await mistake("audit", "list", "--limt", "5")).to.equal(
      "Unknown option '--limt' (Did you mean --limit?) Write: admin audit list [--account <ACCOUNT_ID>] [--limit <NUMBER>]",
    );
  });

  it("names an unknown option before the required one that is missing for it", async () => {
    expect(await mistake("grants", "list", "--acount", "x")).to.equal(
      "Unknown option '--acount'. Required option '--account <ACCOUNT_ID>' not specified. Write: admin grants list --account <ACCOUNT_ID>",
    );
  });

  it("is an option that stands where a value is missing: no account gets the name --help", async () => {
    for (const args of [["--name"], ["--name", "--help"], ["--name=--help"]])
      expect(await mistake("accounts", "create", ...args)).to.equal(
        "Option '--name <NAME>' argument missing. Write: admin accounts create --name <NAME> [--note <TEXT>]",
      );
  });
});
