import { expect } from "chai";
import { useService } from "../support/use-service.ts";

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
  });
}
