import { readFileSync } from "node:fs";
import { api, podsOf, service } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** Returns the tag of an image; undefined if there is none. A colon before the last slash belongs to the registry. */
function tagOf(image: string): string | undefined {
  return /:([^:/@]+)(@|$)/.exec(image)?.[1];
}

export const imageRules: Rule[] = [
  {
    title: "every image has a tag that names a version",
    faults: (manifests) =>
      podsOf(manifests).flatMap(({ owner, containers }) =>
        containers.flatMap(({ image = "" }) =>
          faultIf(!/\d/.test(tagOf(image) ?? "") || tagOf(image) === "latest", `${owner}: the image ${image}`),
        ),
      ),
    broken: [
      { title: "latest", breaks: (all) => (api(all).image = "service:latest"), fault: /service:latest/ },
      { title: "no tag", breaks: (all) => (api(all).image = "service"), fault: /image service$/ },
      {
        title: "a registry's port but no tag",
        breaks: (all) => (api(all).image = "registry.example.com:5000/service"),
        fault: /5000\/service$/,
      },
      { title: "no image", breaks: (all) => delete api(all).image, fault: /Deployment\/onboarding/ },
    ],
  },
  {
    title: "the service's image and its label have the version of package.json",
    faults(manifests) {
      const { metadata, spec } = service(manifests);
      const tag = tagOf(api(manifests).image ?? "");
      return [
        ...faultIf(tag !== version, `the image's tag is ${tag}, package.json says ${version}`),
        ...[metadata.labels, spec.template.metadata.labels].flatMap((labels) =>
          faultIf(
            labels?.["app.kubernetes.io/version"] !== tag,
            "app.kubernetes.io/version differs from the image's tag",
          ),
        ),
      ];
    },
    broken: [
      {
        title: "an older image",
        breaks: (all) => (api(all).image = "candidate-onboarding-service:0.0.9"),
        fault: /tag is 0.0.9/,
      },
      {
        title: "an older label of the pods",
        breaks: (all) => ((service(all).spec.template.metadata.labels ??= {})["app.kubernetes.io/version"] = "0.0.9"),
        fault: /version differs/,
      },
    ],
  },
];
