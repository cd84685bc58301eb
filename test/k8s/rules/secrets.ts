import { api, type Manifest, podsOf, settings } from "../manifests.ts";
import { faultIf, type Rule } from "../rule.ts";

/** The Secrets of the operator: setting and Secret. Without the last one no reminder is sent. */
const SECRETS = { MONGODB_URL: "mongodb", REDIS_URL: "redis", SMTP_URL: "mail" } as const;
const OPTIONAL = new Set<string>(["mail"]);
const KEY = "url";
/** A URL with a user or a password. */
const CREDENTIALS = /:\/\/[^/\s]*@/;

const secretsOf = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === "Secret");
/** kustomize adds a hash to the names of what it generates. */
const withoutHash = (name: string) => name.replace(/-[a-z0-9]{10}$/, "");
const variable = (all: Manifest[], name: string) => api(all).env!.find((one) => one.name === name)!;

export const secretRules: Rule[] = [
  {
    title: "the service takes MONGODB_URL, REDIS_URL and SMTP_URL from Secrets, of which only the last may be missing",
    faults(manifests) {
      const { env = [], envFrom = [] } = api(manifests);
      const references = env.filter(({ valueFrom }) => valueFrom !== undefined);
      return [
        ...Object.entries(SECRETS).flatMap(([setting, secret]) => {
          const reference = env.find(({ name }) => name === setting)?.valueFrom?.secretKeyRef;
          const right = withoutHash(reference?.name ?? "") === secret && reference?.key === KEY;
          return [
            ...faultIf(!right, `${setting} does not come from ${secret}, ${KEY}`),
            ...faultIf((reference?.optional ?? false) !== OPTIONAL.has(secret), `${secret} may be missing, or may not`),
          ];
        }),
        ...faultIf(references.length !== Object.keys(SECRETS).length, "another variable comes from a Secret"),
        ...faultIf(
          envFrom.some(({ secretRef }) => secretRef !== undefined),
          "a whole Secret",
        ),
      ];
    },
    broken: [
      {
        title: "a URL in the Deployment",
        breaks(all) {
          const url = variable(all, "MONGODB_URL");
          delete url.valueFrom;
          url.value = "mongodb://mongodb";
        },
        fault: /MONGODB_URL does not come/,
      },
      {
        title: "another Secret",
        breaks: (all) => (variable(all, "REDIS_URL").valueFrom!.secretKeyRef!.name = "rediss"),
        fault: /REDIS_URL does not come/,
      },
      {
        title: "a Secret that may be missing",
        breaks: (all) => (variable(all, "REDIS_URL").valueFrom!.secretKeyRef!.optional = true),
        fault: /redis may be missing/,
      },
      {
        title: "another key",
        breaks: (all) => (variable(all, "REDIS_URL").valueFrom!.secretKeyRef!.key = "uri"),
        fault: /REDIS_URL does not come/,
      },
      {
        title: "a third Secret",
        breaks: (all) =>
          api(all).env!.push({ name: "TOKEN", valueFrom: { secretKeyRef: { name: "token", key: "token" } } }),
        fault: /another variable/,
      },
      {
        title: "a Secret as a whole",
        breaks: (all) => api(all).envFrom!.push({ secretRef: { name: "redis" } }),
        fault: /a whole Secret/,
      },
    ],
  },
  {
    title: "no password is in the manifests",
    faults: (manifests) => [
      ...manifests
        .filter(({ kind }) => kind === "ConfigMap")
        .flatMap(({ metadata, data = {} }) =>
          Object.entries(data).flatMap(([key, value]) =>
            faultIf(CREDENTIALS.test(value) || key in SECRETS, `ConfigMap/${metadata.name} holds ${key}`),
          ),
        ),
      ...secretsOf(manifests).flatMap(({ metadata, data = {}, stringData = {} }) =>
        [...Object.values(data).map((value) => Buffer.from(value, "base64").toString()), ...Object.values(stringData)]
          .filter((value) => CREDENTIALS.test(value))
          .map(() => `Secret/${metadata.name} holds a password`),
      ),
      ...podsOf(manifests).flatMap(({ owner, containers }) =>
        containers.flatMap(({ env = [], args = [], command = [] }) =>
          faultIf(
            [...env.map(({ value = "" }) => value), ...args, ...command].some((text) => CREDENTIALS.test(text)),
            `${owner} holds a password`,
          ),
        ),
      ),
    ],
    broken: [
      {
        title: "a setting with a password",
        breaks: (all) => (settings(all)["LOG_LEVEL"] = "https://user:secret@logs.example.com"),
        fault: /holds LOG_LEVEL/,
      },
      {
        title: "the address of Redis among the settings",
        breaks: (all) => (settings(all)["REDIS_URL"] = "redis://redis"),
        fault: /holds REDIS_URL/,
      },
      {
        title: "a password in a Secret of the dev overlay",
        in: "dev",
        breaks: (all) => (secretsOf(all)[0]!.stringData = { url: "redis://:secret@redis" }),
        fault: /Secret\/.* holds a password/,
      },
      {
        title: "a password in the Deployment",
        breaks: (all) => api(all).env!.push({ name: "PROXY", value: "http://a:b@proxy" }),
        fault: /Deployment\/onboarding holds a password/,
      },
    ],
  },
  {
    title: "either the operator creates all Secrets, or the overlay generates all of them",
    faults(manifests) {
      const generated = secretsOf(manifests).map(({ metadata }) => metadata.name);
      if (generated.length === 0) return [];
      return podsOf(manifests).flatMap(({ containers }) =>
        containers.flatMap(({ env = [] }) =>
          env.flatMap(({ valueFrom }) => {
            const reference = valueFrom?.secretKeyRef;
            if (reference === undefined || reference.optional) return [];
            const { name, key } = reference;
            const secret = secretsOf(manifests).find(({ metadata }) => metadata.name === name);
            return faultIf(secret?.data?.[key] === undefined, `${name} has no ${key}`);
          }),
        ),
      );
    },
    broken: [
      {
        title: "a reference to a Secret that is not generated",
        in: "dev",
        breaks: (all) => (variable(all, "REDIS_URL").valueFrom!.secretKeyRef!.name = "redis"),
        fault: /redis has no url/,
      },
      {
        title: "a Secret without the key",
        in: "dev",
        breaks: (all) => (secretsOf(all)[0]!.data = {}),
        fault: /has no url/,
      },
    ],
  },
];
