import { PROBLEMS } from "../../src/problems.ts";
import { expectTable } from "../support/snapshot.ts";

describe("interface.md", () => {
  it("lists every problem (UPDATE_SNAPSHOT=1 writes the table)", async () => {
    const problems = Object.entries(PROBLEMS).map(([code, { status, title }]) => [`${status}`, code, title]);
    await expectTable("src/docs/interface.md", "problems", [["status", "code", "title"], ...problems]);
  });
});
