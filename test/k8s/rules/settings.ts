import { describeConfig, readConfig } from "../../../src/config.ts";
import { type Manifest, settings } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";
import { mostReplicas } from "./scaling.ts";

const KNOWN = describeConfig(readConfig({})).map(({ name }) => name);
/** They change the limits that the service promises. */
const LOAD_TESTS_ONLY = ["LIMIT_SCALE", "LIMIT_WINDOW_SECONDS"];

/** Returns the text of what `readConfig` refuses. */
function refused(env: Record<string, string>): string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    return (error as Error).message.split("\n");
  }
}

function sharesFault(manifests: readonly Manifest[]): string[] {
  const { REPLICAS = "1", REPLICAS_EXPECTED } = settings(manifests);
  const most = mostReplicas(manifests) * Number(REPLICAS);
  return faultIf(
    !(Number(REPLICAS_EXPECTED) >= most),
    `REPLICAS_EXPECTED is ${REPLICAS_EXPECTED}, there can be ${most}`,
  );
}

export const settingRules: Rule[] = [
  {
    title: "every key of the ConfigMap is a setting, with a value that the service accepts",
    faults: (manifests) => [
      ...Object.entries(settings(manifests)).flatMap(([name, value]) => [
        ...faultIf(!KNOWN.includes(name), `${name} is no setting`),
        ...faultIf(value === "", `${name} is empty`),
      ]),
      ...refused(settings(manifests)),
    ],
    broken: [
      { title: "an unknown key", breaks: (all) => (settings(all)["LOGLEVEL"] = "info"), fault: /LOGLEVEL is no/ },
      {
        title: "a wrong number",
        breaks: (all) => (settings(all)["TRUSTED_PROXIES"] = "many"),
        fault: /TRUSTED_PROXIES/,
      },
      { title: "a wrong word", breaks: (all) => (settings(all)["LOG_LEVEL"] = "loud"), fault: /LOG_LEVEL/ },
      { title: "no value", breaks: (all) => (settings(all)["LOG_LEVEL"] = ""), fault: /LOG_LEVEL is empty/ },
    ],
  },
  {
    title: "the limits are those that the service promises, also without Redis",
    faults: (manifests) => [
      ...LOAD_TESTS_ONLY.flatMap((name) => faultIf(name in settings(manifests), `${name} is set`)),
      ...sharesFault(manifests),
    ],
    broken: [
      ...LOAD_TESTS_ONLY.map((name) => ({
        title: name,
        breaks: (all: Manifest[]) => (settings(all)[name] = "2"),
        fault: new RegExp(`${name} is set`),
      })),
      {
        title: "shares for fewer replicas than there can be",
        breaks: (all) => (settings(all)["REPLICAS_EXPECTED"] = "16"),
        fault: /REPLICAS_EXPECTED is 16, there can be 17/,
      },
      {
        title: "shares for one process to a pod, with four",
        breaks: (all) => (settings(all)["REPLICAS"] = "4"),
        fault: /there can be 68/,
      },
      {
        title: "no share",
        breaks: (all) => delete settings(all)["REPLICAS_EXPECTED"],
        fault: /REPLICAS_EXPECTED is undefined/,
      },
    ],
  },
];
