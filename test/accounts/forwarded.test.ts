import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { makeKey } from "../../src/accounts/key.ts";
import { Client } from "../support/client.ts";
import { useService } from "../support/use-service.ts";

/** Wrong keys that an address may send in a minute (accounts/guess-limiter.ts). */
const GUESSES = 20;
const FORWARDED = { "X-Forwarded-For": "203.0.113.7" };

for (const [trusted, warnings] of [
  [0, 1],
  [1, 0],
] as const) {
  describe(`X-Forwarded-For with TRUSTED_PROXIES=${trusted}`, () => {
    const service = useService({ TRUSTED_PROXIES: trusted });

    it(`is ${warnings} warning in the log, however often it comes`, async () => {
      const { client } = await service.account();
      const warned = () => service.log.filter(({ msg }) => String(msg).includes("set TRUSTED_PROXIES to"));
      await client.get("/limits");
      expect(warned()).to.have.length(0);
      for (let n = 0; n < 3; n++) expect((await client.get("/limits", FORWARDED)).status).to.equal(200);
      expect(warned()).to.have.length(warnings);
    });

    it(`${trusted === 0 ? "does not change" : "names"} the address of a client that guesses keys`, async () => {
      const statuses: number[] = [];
      for (let n = 0; n <= GUESSES; n++) {
        const guess = new Client(service.url, makeKey(randomBytes));
        statuses.push((await guess.get("/limits", { "X-Forwarded-For": `203.0.113.${n}` })).status);
      }
      expect(new Set(statuses.slice(0, -1))).to.deep.equal(new Set([401]));
      expect(statuses.at(-1)).to.equal(trusted === 0 ? 429 : 401);
    });
  });
}
