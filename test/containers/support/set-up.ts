import { join } from "node:path";
import { lock } from "../../../src/dev/lock.ts";
import { say } from "../../../src/dev/output.ts";
import { findKustomize } from "../../k8s/tools.ts";
import { TOOLS, withTools } from "../../support/tools.ts";
import type { SetUp } from "../../suites.ts";
import { ensureBaseImages } from "./base-images.ts";
import { startEngine } from "./engine.ts";

/**
 * Starts podman with separate storage, and pulls or makes the images that Dockerfile and docker-compose.yml name. The tests
 * build the image, run it as in a deployment, bring docker-compose.yml up and play the built Deployment.
 */
export const setUp: SetUp = async ({ temporary, signal }) => {
  const home = join(TOOLS, "containers");
  const release = await lock(home, () => say("Waiting for another process to finish testing containers …"));
  const engine = await startEngine(home, temporary);
  const tearDown = async (): Promise<void> => {
    await engine.removeAll();
    await engine.stop();
    release();
  };
  try {
    await engine.removeAll(); // an earlier run that was killed may have left some
    const skipped = await ensureBaseImages({ tools: TOOLS, temporary, signal });
    if (skipped !== undefined) return { skipped, tearDown };
    const kustomize = await withTools(() => findKustomize(signal));
    return { env: kustomize === undefined ? {} : { K8S_KUSTOMIZE: JSON.stringify(kustomize) }, tearDown };
  } catch (error) {
    await tearDown();
    throw error;
  }
};
