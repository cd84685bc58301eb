import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";
import { elements, readStructure } from "./structure.ts";
import { readNew } from "./support.ts";

describe("the pages of the pack as a PDF", function () {
  this.timeout(60_000);
  const { client } = useAccount();
  const paperOf = (fields: Record<string, unknown>) => readNew(client, fields);

  it("prints what a referee's page has stored as questions and answers, and metadata beside what it belongs to", async () => {
    const answers = [
      { question: "How do you know Ada?", answer: "We built engines.\nFor ten years." },
      { question: "Would you work with her again?", answer: "Yes." },
    ];
    const { pages, bytes } = await paperOf({
      metadata: { cost_center: "4711" },
      documents: [{ name: "Passport", metadata: { shelf: "B 12" } }],
      references: [{ name: "Charles Babbage", state: "received", response: { answers }, metadata: { crm: "c-9" } }],
    });
    const text = pages.join("\n");
    expect(text).to.match(
      /How do you know Ada\?\s+We built engines\.\n\s*For ten years\.[\s\S]*Would you work with her again\?\s+Yes\./,
    );
    expect(text).to.match(/Answered by Charles Babbage on \d+ \w+ \d{4}, \d\d:\d\d:\d\d\sUTC/);
    expect(text).not.to.contain("answers ›");
    const order = ["cost_center", "Documents (1)", "shelf", "References (1)", "crm", "Answered by"];
    expect(order.toSorted((one, other) => text.indexOf(one) - text.indexOf(other))).to.deep.equal(order);
    const labels = elements(await readStructure(bytes), "TR").map((row) => row.inside.map(({ text: cell }) => cell));
    expect(labels).to.deep.include.members([
      ["cost_center", "4711"],
      ["shelf", "B 12"],
      ["crm", "c-9"],
      ["Would you work with her again?", "Yes."],
    ]);
  });

  it("never ends a page with a heading or a question, and says above the rest of a table whose it is", async () => {
    const answers = Array.from({ length: 40 }, (_, n) => ({
      question: `Question ${n}?`,
      answer: "Yes.\n".repeat((n % 4) + 1),
    }));
    const { pages } = await paperOf({
      documents: Array.from({ length: 25 }, (_, n) => ({
        name: `Document ${n}`,
        metadata: Object.fromEntries(Array.from({ length: n % 5 }, (_each, label) => [`label ${label}`, "value"])),
      })),
      references: Array.from({ length: 4 }, (_, n) => ({
        name: `Referee ${n}`,
        state: "received",
        response: { answers: answers.slice(n * 7) },
      })),
    });
    expect(pages.length).to.be.greaterThan(6);
    for (const page of pages) {
      const [first, last] = [page.trim().split("\n")[0], page.trim().split("\n").at(-2)];
      expect(last).not.to.match(/ \(\d+\)$|^\d+ (Document|Referee) \d|\?$|^Further details|^Answered by|outstanding$/);
      expect(first).to.match(/^COMPLIANCE|^References|^\d+ (Document|Referee) \d|^Further details|^Answered by/);
    }
  });
});
