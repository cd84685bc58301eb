import { answerOf } from "../../admin/support.ts";
import { withDatabase } from "../../support/mongo-url.ts";
import { expectReadable, useObserved } from "../support/observed.ts";

describe("the alerts while the service is closed for a restore", () => {
  const { service, prometheus } = useObserved();

  it("say so, until it is open again", async () => {
    const { MONGODB_URL = "", REDIS_URL } = process.env;
    const { databaseName } = service.operators.mongo.db;
    const env = { MONGODB_URL: withDatabase(MONGODB_URL, databaseName), REDIS_URL };
    await answerOf(["restore", "begin"], env);
    expectReadable(await prometheus.firing("OnboardingRestoring"));
    await answerOf(["restore", "end"], env);
    await prometheus.quiet("OnboardingRestoring");
  });
});
