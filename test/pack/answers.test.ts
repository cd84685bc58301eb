import { expect } from "chai";
import { answersOf } from "../../src/pack/answers.ts";

const YES_NO = ["Yes", "No"] as const;
const rows = (response: Record<string, unknown> | null) =>
  answersOf(response, 100, YES_NO).shown.map((row) => row.join(" = "));

describe("the answers of a reference", () => {
  it("have one line for each value, with its path, and numbers for the items of a list", () => {
    expect(
      rows({ a: 1, b: { c: [true, false, "two"], d: { e: null } }, list: [{ x: "" }, [0.5]], text: "x\ny" }),
    ).to.deep.equal([
      "a = 1",
      "b › c › 1 = Yes",
      "b › c › 2 = No",
      "b › c › 3 = two",
      "b › d › e = —",
      "list › 1 › x = ",
      "list › 2 › 1 = 0.5",
      "text = x\ny",
    ]);
  });

  it("show an empty object or list as no value, and are none if the whole response is empty or absent", () => {
    expect(rows({ a: {}, b: [], c: { d: {} } })).to.deep.equal(["a = —", "b = —", "c › d = —"]);
    for (const response of [{}, null]) expect(answersOf(response, 100, YES_NO)).to.deep.equal({ shown: [], more: 0 });
  });

  it("show the questions of the referee's page instead of their places in its list", () => {
    const asked = { question: "How do you know Ada?", answer: "We built engines.\nFor years." };
    expect(rows({ answers: [asked, { ...asked, more: 1 }], b: [{ question: "Q", answer: 1 }] })).to.deep.equal([
      "How do you know Ada? = We built engines.\nFor years.",
      "answers › 2 › question = How do you know Ada?",
      "answers › 2 › answer = We built engines.\nFor years.",
      "answers › 2 › more = 1",
      "b › 1 › question = Q",
      "b › 1 › answer = 1",
    ]);
  });

  it("show what is nested more than six levels deep as JSON", () => {
    const nested = (inner: unknown) => ({ a: { b: { c: { d: { e: inner } } } } });
    const path = "a › b › c › d › e";
    expect(rows(nested({ f: 1 }))).to.deep.equal([`${path} › f = 1`]);
    expect(rows(nested({ f: { g: [true, null] } }))).to.deep.equal([`${path} › f = {"g":[true,null]}`]);
    expect(rows(nested({ f: [] }))).to.deep.equal([`${path} › f = []`]);
    expect(rows(nested({ f: null }))).to.deep.equal([`${path} › f = —`]);
  });

  it("are counted beyond the limit, but not shown", () => {
    const response = { a: 1, b: { c: 2, d: 3 }, e: 4 };
    expect(answersOf(response, 2, YES_NO)).to.deep.equal({
      shown: [
        ["a", "1"],
        ["b › c", "2"],
      ],
      more: 2,
    });
    expect(answersOf(response, 4, YES_NO).more).to.equal(0);
    expect(answersOf(response, 0, YES_NO)).to.deep.equal({ shown: [], more: 4 });
  });
});
