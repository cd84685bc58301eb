import type { Rule } from "./rule.ts";
import { imageRules } from "./rules/images.ts";
import { networkRules } from "./rules/network.ts";
import { operatorRules } from "./rules/operator.ts";
import { referenceRules } from "./rules/references.ts";
import { runningRules } from "./rules/running.ts";
import { scalingRules } from "./rules/scaling.ts";
import { secretRules } from "./rules/secrets.ts";
import { securityRules } from "./rules/security.ts";
import { settingRules } from "./rules/settings.ts";
import { storeRules } from "./rules/stores.ts";

/** Our policy for everything that the overlays and components of k8s/ build. */
export const rules: readonly Rule[] = [
  ...imageRules,
  ...runningRules,
  ...securityRules,
  ...secretRules,
  ...scalingRules,
  ...referenceRules,
  ...settingRules,
  ...storeRules,
  ...networkRules,
  ...operatorRules,
];
