import { expect } from "chai";
import { createLog, describeFailure, withoutRedaction } from "../../src/infra/log.ts";
import { Problem, problem } from "../../src/problems.ts";

const SENSITIVE = [
  "authorization",
  "x-api-key",
  "key",
  "apiKey",
  "secret",
  "args",
  "name",
  "email",
  "phone",
  "headers",
  "body",
];

const OF_EVERY_LINE = ["level", "time", "pid", "hostname"];

/** Returns a log, and its lines without the members that every line has. */
function logged() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => {
    const members = Object.entries(JSON.parse(line) as Record<string, unknown>);
    lines.push(Object.fromEntries(members.filter(([name]) => !OF_EVERY_LINE.includes(name))));
  };
  return { log: createLog("info", { write }), lines };
}

describe("the redaction of the log", () => {
  for (const name of SENSITIVE) {
    it(`hides ${name}, also one or two levels down`, () => {
      const { log, lines } = logged();
      log.info({ [name]: "x", one: { [name]: "x", two: { [name]: "x" } }, kept: "y" }, "line");
      const hidden = { [name]: "[redacted]" };
      expect(lines).to.deep.equal([{ ...hidden, one: { ...hidden, two: hidden }, kept: "y", msg: "line" }]);
    });
  }

  it("is left out of a log for lines that the service made itself", () => {
    const { log, lines } = logged();
    withoutRedaction(log).info({ key: "x", one: { name: "x" } }, "line");
    expect(lines).to.deep.equal([{ key: "x", one: { name: "x" }, msg: "line" }]);
  });
});

describe("the log at a level", () => {
  it("has no line of a lower one", () => {
    const lines: string[] = [];
    const log = createLog("warn", { write: (line) => lines.push(line) });
    log.info("low");
    log.warn("high");
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).to.deep.equal(["high"]);
  });
});

describe("the description of a failure in the log", () => {
  it("is the name, the message and the stack of the error and its causes, and nothing else of them", () => {
    const cause = Object.assign(new RangeError("inner"), { document: { email: "a@b.c" } });
    const error = new TypeError("outer", { cause });
    expect(describeFailure(error)).to.deep.equal({
      type: "TypeError",
      message: "outer",
      stack: error.stack,
      cause: { type: "RangeError", message: "inner", stack: cause.stack },
    });
  });

  it("has the code of a problem, and a cause that is no error as its text", () => {
    const failure = problem("store_unavailable", "gone", { cause: "closed" });
    expect(describeFailure(failure)).to.deep.equal({
      type: failure.name,
      message: failure.message,
      stack: failure.stack,
      code: "store_unavailable",
      cause: { message: "closed" },
    });
    expect(failure).to.be.an.instanceOf(Problem);
  });

  it("is the text of what was thrown if that is no error", () => {
    expect(describeFailure("torn")).to.deep.equal({ message: "torn" });
    expect(describeFailure(undefined)).to.deep.equal({ message: "undefined" });
  });
});
