import { join } from "node:path";
import { installJars, TOOLS, withTools } from "../support/tools.ts";
import type { SetUp } from "../suites.ts";

const VERSION = "1.28.1";
const POM = new URL("pom.xml", import.meta.url);

/** Installs veraPDF, and names its jars to the tests. */
export const setUp: SetUp = async ({ signal }) => {
  const folder = join(TOOLS, `verapdf-${VERSION}`);
  if (await withTools(() => installJars(`veraPDF ${VERSION}`, POM, folder, signal)))
    return { env: { VERAPDF_JARS: folder } };
  return { skipped: "PDFs are not validated without veraPDF. On Debian: apt-get install default-jdk-headless maven" };
};
