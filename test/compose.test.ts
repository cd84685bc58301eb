import { expect } from "chai";
import { compose } from "../src/compose.ts";
import { createLog } from "../src/infra/log.ts";
import { Startup } from "../src/infra/startup.ts";
import { testConfig } from "./support/service.ts";

describe("The composition of the service", () => {
  for (const missing of [{ REDIS_URL: null }, { MONGODB_URL: null }, { REDIS_URL: null, MONGODB_URL: null }])
    it(`is refused without ${Object.keys(missing).join(" and ")}, and says how to set it`, async () => {
      const failure = await compose({ ...testConfig(), ...missing }, new Startup(createLog("silent"), true)).catch(
        String,
      );
      expect(failure).to.equal(
        "Error: REDIS_URL and MONGODB_URL are not set. Set both, or run npm start: it finds or starts the servers.",
      );
    });
});
