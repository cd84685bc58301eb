import { createHash, randomBytes } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { hashKey, makeKey, wellFormed } from "../../src/accounts/key.ts";

const anyKey = fc.infiniteStream(fc.nat(255)).map((bytes) => makeKey(() => Uint8Array.of(bytes.next().value)));
const anyCharacter = fc.string({ unit: "binary", minLength: 1, maxLength: 1 });

describe("an API key", () => {
  it("consists of cos_live_, 30 random characters and a checksum of 6 characters", () => {
    expect(makeKey(randomBytes)).to.match(/^cos_live_[0-9A-Za-z]{36}$/);
    expect(makeKey(randomBytes)).to.not.equal(makeKey(randomBytes));
  });

  it("is well formed when it is created", () => {
    fc.assert(fc.property(anyKey, (key) => wellFormed(key)));
  });

  it("is malformed if any one character is changed, dropped, doubled or switched in case", () => {
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

  it("is malformed if any two neighbouring characters are swapped", () => {
    fc.assert(
      fc.property(anyKey, fc.nat(43), (key, at) => {
        const swapped = key.slice(0, at) + key.charAt(at + 1) + key.charAt(at) + key.slice(at + 2);
        expect(wellFormed(swapped)).to.equal(swapped === key);
      }),
    );
  });

  it("is malformed if it is empty, cut short, far too long, padded or in upper case", () => {
    const key = makeKey(randomBytes);
    for (const text of ["", "cos_live_", "x".repeat(100_000), ` ${key}`, `${key}\n`, key.toUpperCase()]) {
      expect(wellFormed(text), text.slice(0, 60)).to.equal(false);
    }
  });

  it("is malformed if only its checksum is right", () => {
    expect(wellFormed("cos_live_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA35Jy1B")).to.equal(true);
    for (const text of ["cos_test_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAA1CrbfG", "cos_live_AAAA1xgeAd"])
      expect(wellFormed(text), text).to.equal(false);
  });

  it("uses every character of base62 equally often", () => {
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

  it("is hashed with SHA-256", () => {
    const key = makeKey(randomBytes);
    expect(hashKey(key)).to.equal(createHash("sha256").update(key).digest("hex"));
  });
});
