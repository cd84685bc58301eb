import { onPath } from "../../src/dev/programs.ts";
import type { SetUp } from "../suites.ts";

/** Finds Chromium. Debian calls it chromium. */
export const setUp: SetUp = async () => {
  const chromium = onPath("chromium") ?? onPath("chromium-browser") ?? onPath("google-chrome");
  if (chromium === undefined) return { skipped: "not on the PATH: chromium. On Debian: apt-get install chromium" };
  return { env: { CHROMIUM: chromium } };
};
