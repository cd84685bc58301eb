import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { hashKey, makeKey, wellFormed } from "../../src/accounts/key.ts";

const anyKey = fc.infiniteStream(fc.nat(255)).map((bytes) => makeKey(() => Uint8Array.of(bytes.next().value)));
const anyCharacter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });

describe("the text of an API key", () => {
  it("is cos_live_, 30 random characters and 6 of checksum", () => {
    expect(makeKey(randomBytes)).to.match(/^cos_live_[0-9A-Za-z]{36}$/);
    expect(makeKey(randomBytes)).to.not.equal(makeKey(randomBytes));
  });

  it("is well formed as it is made", () => {
    fc.assert(fc.property(anyKey, (key) => wellFormed(key)));
  });

  it("is refused with any one character changed, dropped, doubled or in the other case", () => {
    fc.assert(
      fc.property(anyKey, anyCharacter, (key, other) => {
        for (const [at, character] of Array.from(key).entries()) {
          const [before, after] = [key.slice(0, at), key.slice(at + 1)];
          const swapped = character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
          for (const changed of [other, swapped, "", character + character]) {
            const mutant = before + changed + after;
            expect(wellFormed(mutant), mutant).to.equal(mutant === key);
          }
        }
      }),
    );
  });

  it("is refused with any two neighbours swapped", () => {
    fc.assert(
      fc.property(anyKey, fc.nat(43), (key, at) => {
        const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
        expect(wellFormed(swapped)).to.equal(swapped === key);
      }),
    );
  });

  it("is nothing else", () => {
    const key = makeKey(randomBytes);
    for (const text of ["", "cos_live_", "x".repeat(100_000), ` ${key}`, `${key}\n`, key.toUpperCase()]) {
      expect(wellFormed(text), text.slice(0, 60)).to.equal(false);
    }
  });

  it("has every character of base62 equally often", () => {
    const counts = new Map<string, number>();
    for (let value = 0; value < 256; value++) {
      const bytes = [value];
      const first = makeKey(() => Uint8Array.of(bytes.shift() ?? 0)).charAt("cos_live_".length);
      if (value >= 248) expect(first, "a byte that would favour some is thrown away").to.equal("0");
      else counts.set(first, (counts.get(first) ?? 0) + 1);
    }
    expect(counts.size).to.equal(62);
    expect(new Set(counts.values())).to.deep.equal(new Set([4]));
  });

  it("is kept as its SHA-256", () => {
    const key = makeKey(randomBytes);
    expect(hashKey(key)).to.equal(createHash("sha256").update(key).digest("hex"));
  });
});
