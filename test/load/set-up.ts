import { say } from "../../src/dev/output.ts";
import { onPath } from "../../src/dev/programs.ts";
import type { SetUp } from "../suites.ts";

/** The kit runs without k6. Its scripts do not. */
export const setUp: SetUp = async () => {
  if (onPath("k6") === undefined)
    say("Skipped: the k6 scripts. k6 is not on the PATH: https://grafana.com/docs/k6/latest/set-up/install-k6/");
  return {};
};
