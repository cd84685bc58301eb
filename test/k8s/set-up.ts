import { say } from "../../src/dev/output.ts";
import { withTools } from "../support/tools.ts";
import type { SetUp } from "../suites.ts";
import { findKustomize, findSchemas } from "./tools.ts";

/** Names the tools to the tests, see test/k8s/build.ts. They need no cluster, and no network once the tools are installed. */
export const setUp: SetUp = ({ signal }) =>
  withTools(async () => {
    const kustomize = await findKustomize(signal);
    if (kustomize === undefined)
      return { skipped: "k8s/ is not checked without kustomize 5. Install kustomize, kubectl 1.27 or newer, or Go." };
    const schemas = await findSchemas(signal);
    if (schemas === undefined) say("Skipped: the schemas of Kubernetes. They need python3 3.10 or newer with venv.");
    return { env: { K8S_KUSTOMIZE: JSON.stringify(kustomize), K8S_SCHEMAS: schemas ?? "" } };
  });
