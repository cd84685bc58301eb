import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { presentedKey } from "../../src/accounts/credentials.ts";
import { makeKey } from "../../src/accounts/key.ts";
import { Problem } from "../../src/problems.ts";

const key = makeKey(randomBytes);
const other = makeKey(randomBytes);

function refusal(authorization?: string, apiKey?: string): Problem {
  try {
    presentedKey({ authorization, apiKey });
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("expected a problem, got a key");
}

describe("presentedKey", () => {
  it("reads Authorization: Bearer in any case, or X-API-Key, or both if they agree", () => {
    for (const [authorization, apiKey] of [
      [`Bearer ${key}`, undefined],
      [`bearer  ${key}`, ""],
      [undefined, key],
      ["", key],
      [`Bearer ${key}`, key],
    ]) {
      expect(presentedKey({ authorization, apiKey })).to.equal(key);
    }
  });

  it("reads X-API-Key if Authorization has another scheme, as behind a gateway", () => {
    expect(presentedKey({ authorization: "Basic dTpw", apiKey: key })).to.equal(key);
  });

  it("refuses a missing key with api_key_missing and a challenge without an error", () => {
    for (const [authorization, apiKey] of [
      [],
      [""],
      ["", ""],
      ["Bearer"],
      ["Bearer "],
      ["Basic dTpw"],
      [key],
      [`Token ${key}`],
    ]) {
      const { code, extras } = refusal(authorization, apiKey);
      expect(code).to.equal("api_key_missing");
      expect(extras.headers).to.deep.equal({ "WWW-Authenticate": 'Bearer realm="candidate-onboarding"' });
    }
  });

  it("refuses two different keys and malformed keys with api_key_invalid and the error invalid_token", () => {
    const long = "x".repeat(1_000_000);
    for (const [authorization, apiKey] of [
      [`Bearer ${key}`, other],
      [`Bearer ${key.slice(0, -1)}`],
      [`Bearer ${key} ${key}`],
      [`Bearer ${long}`],
      [undefined, `${key}, ${key}`],
      [undefined, `${key.slice(0, -1)}-`],
    ]) {
      const { code, extras } = refusal(authorization, apiKey);
      expect(code).to.equal("api_key_invalid");
      expect(extras.headers).to.deep.equal({
        "WWW-Authenticate": 'Bearer realm="candidate-onboarding", error="invalid_token"',
      });
    }
  });

  it("never repeats a key in a refusal", () => {
    for (const problem of [
      refusal(key),
      refusal(`Token ${key}`),
      refusal(`Bearer ${key}`, other),
      refusal(`Bearer ${key}x`),
    ]) {
      expect(JSON.stringify([problem.message, problem.extras])).to.not.include(key.slice(9, 20));
    }
  });
});
