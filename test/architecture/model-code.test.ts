import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect } from "chai";

const FOLDER = "test/model";

describe("The models", () => {
  it('name only files that exist in their lines "code: FILE | TEXT"', () => {
    const named = readdirSync(FOLDER)
      .filter((name) => name.endsWith(".tla"))
      .flatMap((name) => Array.from(readFileSync(`${FOLDER}/${name}`, "utf8").matchAll(/code: (\S+\.\w+) \|/g)))
      .map(([, file = ""]) => file);
    expect(named).to.have.length.above(100);
    expect(named.filter((file) => !existsSync(file))).to.deep.equal([]);
  });
});
