import { expect } from "chai";
import type { ChargeRequest } from "../../src/limiter/decision.ts";
import { REQUEST, useRefusalCache } from "./refusal-scene.ts";

describe("the cache of refusals in a flood only", () => {
  const scene = useRefusalCache();
  const { refuse, isRepeated } = scene;

  it("begins with the tenth refusal", () => {
    refuse(9);
    expect(isRepeated()).to.equal(false);
    refuse(1);
    expect(isRepeated()).to.equal(true);
  });

  it("counts the refusals that were sent within a second", () => {
    refuse(9);
    scene.now += 999.5;
    refuse(1);
    expect(isRepeated()).to.equal(true);
  });

  it("counts anew after a second", () => {
    refuse(9);
    scene.now += 1_000;
    refuse(9);
    expect(isRepeated()).to.equal(false);
    refuse(1);
    expect(isRepeated()).to.equal(true);
  });

  it("never begins if refusals come five times a second", () => {
    for (let i = 0; i < 30; i++, scene.now += 200) {
      refuse(1);
      expect(isRepeated()).to.equal(false);
    }
  });

  it("goes on while each second has ten, repeated ones included", () => {
    refuse(10);
    for (let second = 0; second < 3; second++) {
      for (let i = 0; i < 9; i++) expect(isRepeated(), `second ${second}`).to.equal(true);
      scene.now += 1_000;
      expect(isRepeated()).to.equal(false);
      refuse(1);
    }
  });

  it("ends with a second that has nine", () => {
    refuse(10);
    scene.now += 1_000;
    refuse(1);
    for (let i = 0; i < 8; i++) expect(isRepeated()).to.equal(true);
    scene.now += 1_000;
    refuse(1);
    expect(isRepeated()).to.equal(false);
  });

  it("ends with a second that has none", () => {
    refuse(50);
    scene.now += 2_000;
    refuse(1);
    expect(isRepeated()).to.equal(false);
  });

  it("counts each key and surface of an account alone", () => {
    const others: ChargeRequest[] = [
      { ...REQUEST, accountId: "acct_2" },
      { ...REQUEST, keyId: "key_2" },
      { ...REQUEST, surface: "create" },
    ];
    refuse(10);
    for (const request of others) {
      expect(isRepeated(request)).to.equal(false);
      refuse(9, { request });
      expect(isRepeated(request)).to.equal(false);
    }
  });
});
