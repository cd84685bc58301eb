import { Writable } from "node:stream";
import { expect } from "chai";
import { command, synopsis } from "../../src/admin/command.ts";
import { parse, UsageError } from "../../src/admin/parse.ts";
import { listOf, print } from "../../src/admin/print.ts";

const run = async () => undefined;
const LIST = command({ words: "boxes list", help: "lists", optional: { size: "SIZE" }, run });
const OPEN = command({
  words: "boxes open",
  help: "opens",
  argument: "box",
  required: { box: "BOX_ID", key: "KEY" },
  flags: ["slowly"],
  run,
});
const BARE = command({ words: "status", help: "shows", run });
const COMMANDS = [LIST, OPEN, BARE];

const given = (...args: string[]) => {
  try {
    const parsed = parse(COMMANDS, args);
    return parsed === "help" ? parsed : [parsed.command.words, parsed.given];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return error.message;
  }
};

describe("a command line", () => {
  it("calls the command of its words, with its argument, options and flags in any order", () => {
    expect(given("boxes", "list")).to.deep.equal(["boxes list", {}]);
    expect(given("boxes", "list", "--size", "9")).to.deep.equal(["boxes list", { size: "9" }]);
    expect(given("boxes", "list", "--size=")).to.deep.equal(["boxes list", { size: "" }]);
    const opened = ["boxes open", { box: "box_1", key: "k" }];
    expect(given("boxes", "open", "box_1", "--key", "k")).to.deep.equal(opened);
    expect(given("boxes", "open", "--key=k", "box_1")).to.deep.equal(opened);
    expect(given("boxes", "open", "box_1", "--key", "k", "--slowly")).to.deep.equal([
      "boxes open",
      { box: "box_1", key: "k", slowly: "" },
    ]);
    expect(given("status")).to.deep.equal(["status", {}]);
  });

  it("asks for help in any of three ways, also beside a command", () => {
    for (const args of [["help"], ["help", "boxes"], ["--help"], ["-h"], ["boxes", "list", "-h"], ["boxes", "--help"]])
      expect(given(...args), args.join(" ")).to.equal("help");
    expect(given("boxes", "help")).to.match(/^Unknown command "boxes help"/);
  });

  const ALL = "boxes list, boxes open, status, help";
  const OPEN_USAGE = "boxes open BOX_ID --key KEY [--slowly]";
  const MISTAKES: [line: string, message: string][] = [
    ["", `No command given. The commands are ${ALL}.`],
    ["--size 1", `No command given. The commands are ${ALL}.`],
    ["boxes", '"boxes" needs a second word. Write one of: boxes list, boxes open.'],
    ["boxes lists", 'Unknown command "boxes lists". The nearest is "boxes list". Write help for all commands.'],
    ["boxes 1234 x", 'Unknown command "boxes 1234". The nearest is "boxes list". Write help for all commands.'],
    ["boxes 12345", `Unknown command "boxes 12345". The commands are ${ALL}.`],
    ["box", `Unknown command "box". The commands are ${ALL}.`],
    ["statu", 'Unknown command "statu". The nearest is "status". Write help for all commands.'],
    ["status now", '"now" is one argument too many. Write: status'],
    ["status --now", "Unknown option --now for status. It has no options. Write: status"],
    ["boxes list a b", '"b" is one argument too many. Write: boxes list [--size SIZE]'],
    [
      "boxes list --sise 1",
      "Unknown option --sise for boxes list. The nearest is --size. Write: boxes list [--size SIZE]",
    ],
    ["boxes list -s 1", "Unknown option -s for boxes list. The nearest is --size. Write: boxes list [--size SIZE]"],
    [
      "boxes list --size",
      "An option of boxes list has no value, or a value it does not take. Write: boxes list [--size SIZE]",
    ],
    ["boxes open", `boxes open lacks box, key. Write: ${OPEN_USAGE}`],
    ["boxes open box_1", `boxes open lacks key. Write: ${OPEN_USAGE}`],
    ["boxes open a b --key k", `"b" is one argument too many. Write: ${OPEN_USAGE}`],
    ["boxes open --box a --key k", `Unknown option --box for boxes open. The nearest is --key. Write: ${OPEN_USAGE}`],
    [
      "boxes open a --key k --slowly=yes",
      `An option of boxes open has no value, or a value it does not take. Write: ${OPEN_USAGE}`,
    ],
  ];
  for (const [line, message] of MISTAKES) {
    it(`of ${JSON.stringify(line)} is answered with what to write`, () => {
      expect(given(...line.split(" ").filter((word) => word !== ""))).to.equal(message);
    });
  }

  it("has a usage with everything that it takes", () => {
    expect([LIST, OPEN, BARE].map(synopsis)).to.deep.equal(["boxes list [--size SIZE]", OPEN_USAGE, "status"]);
    expect(BARE).to.deep.equal({ words: "status", help: "shows", run, required: {}, optional: {}, flags: [] });
  });
});

describe("what a command prints", () => {
  const printed = async (...answers: object[]) => {
    let text = "";
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        text += chunk.toString();
        done();
      },
    });
    for (const answer of answers) await print(answer, output);
    return text;
  };
  async function* rows(count: number) {
    for (let n = 0; n < count; n++) yield { n, list: [n] };
  }

  it("is indented JSON with a line break, and its output stays open for more", async () => {
    const [one, two] = [{ a: { b: 1 } }, { c: [] }];
    expect(await printed(one, two)).to.equal(`${JSON.stringify(one, null, 2)}\n${JSON.stringify(two, null, 2)}\n`);
  });

  it("is the same for a list of rows that come one by one", async () => {
    for (const count of [0, 1, 3]) {
      const data = Array.from({ length: count }, (_, n) => ({ n, list: [n] }));
      expect(await printed(listOf(rows(count)))).to.equal(`${JSON.stringify({ object: "list", data }, null, 2)}\n`);
    }
  });

  it("is nothing if the first row fails", async () => {
    async function* failing(fails: boolean): AsyncGenerator<object, void> {
      if (fails) throw new Error("The store does not answer.");
      yield {};
    }
    let written = 0;
    const output = new Writable({ write: (_chunk, _encoding, done) => (written++, done()) });
    const outcome = await print(listOf(failing(true)), output).catch((error: Error) => error.message);
    expect([outcome, written]).to.deep.equal(["The store does not answer.", 0]);
  });
});
