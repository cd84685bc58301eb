import { join } from "node:path";
import { serverNames } from "../support/server-names.ts";
import type { SetUp } from "../suites.ts";

/** Names the file in which the tests note what they broke, and the servers, for the table at the end. */
export const setUp: SetUp = async ({ urls, temporary }) => ({
  env: {
    FAULTS_OUTCOMES: join(temporary, "outcomes.jsonl"),
    FAULTS_SERVERS: urls === undefined ? "" : await serverNames(urls),
  },
});
