import { ofKind, one } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";

const OPTIONS = { "--maxmemory-policy": "noeviction", "--appendonly": "yes" };

export const storeRules: Rule[] = [
  {
    title: "a Redis that an overlay brings evicts nothing and keeps its counts over a restart",
    faults: (manifests) =>
      ofKind("StatefulSet", manifests)
        .filter(({ metadata }) => metadata.name === "redis")
        .flatMap(({ spec }) => spec.template.spec.containers)
        .flatMap(({ args = [] }) =>
          Object.entries(OPTIONS).flatMap(([option, value]) =>
            faultIf(args[args.indexOf(option) + 1] !== value, `${option} is not ${value}`),
          ),
        ),
    broken: [
      {
        title: "another policy",
        in: "dev",
        breaks(all) {
          const { args } = one("StatefulSet", all, "redis").spec.template.spec.containers[0]!;
          args![args!.indexOf("noeviction")] = "volatile-lru";
        },
        fault: /maxmemory-policy is not noeviction/,
      },
      {
        title: "no file",
        in: "dev",
        breaks(all) {
          const { args } = one("StatefulSet", all, "redis").spec.template.spec.containers[0]!;
          args![args!.indexOf("yes")] = "no";
        },
        fault: /appendonly is not yes/,
      },
    ],
  },
];
