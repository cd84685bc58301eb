import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { makeKey, presentedKey } from "../../src/accounts/key.ts";
import type { Refusal } from "../../src/problems.ts";

const key = makeKey(randomBytes);
const other = makeKey(randomBytes);

function refusal(authorization?: string, apiKey?: string): Refusal {
  const found = presentedKey({ authorization, apiKey });
  if (typeof found === "string") throw new Error("expected a refusal, got a key");
  return found;
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

  const HOW = "Send it as `Authorization: Bearer <API_KEY>` or as `X-API-Key: <API_KEY>`.";
  const MISSING: [authorization: string | undefined, detail: string][] = [
    [undefined, "The request has no API key."],
    ["", "The request has no API key."],
    ["Bearer", "The Authorization header has no API key after Bearer."],
    ["BEARER   ", "The Authorization header has no API key after Bearer."],
    ["Basic dTpw", "The Authorization header must begin with Bearer and a space."],
    ["Bearer\tabc", "The Authorization header must begin with Bearer and a space."],
    ["Bearerabc", "The Authorization header must begin with Bearer and a space."],
    ["x Bearer abc", "The Authorization header must begin with Bearer and a space."],
  ];
  for (const [authorization, detail] of MISSING) {
    it(`says what is missing in ${JSON.stringify(authorization)}`, () => {
      expect(refusal(authorization).detail).to.equal(`${detail} ${HOW}`);
      expect(presentedKey({ authorization, apiKey: key }), "X-API-Key is enough").to.equal(key);
    });
  }

  it("refuses two different keys with api_key_invalid and the error invalid_token", () => {
    const { code, detail, extras } = refusal(`Bearer ${key}`, other);
    expect(code).to.equal("api_key_invalid");
    expect(detail).to.equal("Authorization and X-API-Key contain different keys. Send only one of them.");
    expect(extras.headers).to.deep.equal({
      "WWW-Authenticate": 'Bearer realm="candidate-onboarding", error="invalid_token"',
    });
  });

  it("never repeats a key in a refusal", () => {
    for (const refused of [refusal(key), refusal(`Token ${key}`), refusal(`Bearer ${key}`, other)]) {
      expect(JSON.stringify(refused)).to.not.include(key.slice(9, 20));
    }
  });
});
