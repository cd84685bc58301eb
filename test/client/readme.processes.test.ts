import { readFileSync } from "node:fs";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";
import { runProgram } from "./installed.ts";

const README = readFileSync("src/client/README.md", "utf8");

/** The lines that each program of the README prints, in order. */
const PRINTS = [
  /^in_progress$/m,
  /^1 created, 1 failed: \S/m,
  /^2 of 2, 0 s to go\n2 created, 0 updated, 0 unchanged, 0 gone$/m,
  /^1 candidates\ncontinue later with \S+$/m,
  /^1 checked, 1 missing, 0 too many, 0 different$/m,
  /^validation_failed \/email$/m,
  /^changed/m,
  /^\d+ bytes$/m,
];

describe("the README of the client", () => {
  const service = useService();
  const account = useAccount(service);
  const programs = Array.from(README.matchAll(/^```ts\n([^]*?)^```$/gm), ([, program = ""]) => program);

  it("has only programs that this test runs, and the command that test/client/installed.ts runs", () => {
    expect(programs).to.have.length(PRINTS.length);
    expect(Array.from(README.matchAll(/^```(\w+)$/gm), ([, language]) => language)).to.deep.equal([
      "sh",
      ...PRINTS.map(() => "ts"),
    ]);
  });

  for (const [index, prints] of PRINTS.entries()) {
    it(`has a program that prints ${prints.source}`, async () => {
      await account.client.post("/candidates", {});
      const env = { ONBOARDING_URL: service.url, ONBOARDING_KEY: account.key };
      expect(await runProgram(programs[index] ?? "", { env, types: ["node"] })).to.match(prints);
    });
  }
});
