import { SETTLE_WITHIN_MS } from "../../src/candidates/checkpoints.ts";
import { readFileSync } from "node:fs";
import { expect } from "chai";
import { describeConfig, readConfig } from "../../src/config.ts";
import { MAX_STOP_MS, MAX_LISTEN_MS } from "../../src/process/drain.ts";
import { STOP_WITHIN_MS } from "../../src/sweeps/runner.ts";
import { inEveryVariant } from "./build.ts";
import {
  api,
  autoscaler,
  type Manifest,
  ofKind,
  one,
  selects,
  service,
  settings,
  settingsMap,
  type Specs,
} from "./manifests.ts";

/** The longest that a replica takes to stop, in milliseconds. The last part is one store operation. */
const STOP_MS = MAX_STOP_MS + STOP_WITHIN_MS + SETTLE_WITHIN_MS + 5_000;
/** How long nodes and load balancers may take to learn that a pod has left the Service. */
const ENDPOINTS_SETTLE_SECONDS = 10;
/** They change the limits that the service promises. */
const LOAD_TESTS_ONLY = ["LIMIT_SCALE", "LIMIT_WINDOW_SECONDS"];

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

/** The fewest replicas when nothing is wrong. */
function fewestReplicas(manifests: readonly Manifest[]): number {
  const scaler = autoscaler(manifests);
  return (scaler === undefined ? service(manifests).spec.replicas : scaler.minReplicas) ?? 1;
}

/** Returns how many of `replicas` that are all ready may be evicted at once. Kubernetes rounds percentages up. */
function evictable({ minAvailable, maxUnavailable }: Specs["PodDisruptionBudget"], replicas: number): number {
  const count = (value: number | string) =>
    typeof value === "number" ? value : Math.ceil((Number.parseFloat(value) / 100) * replicas);
  return minAvailable === undefined ? count(maxUnavailable ?? 0) : replicas - count(minAvailable);
}

describe("the Deployment of k8s/", () => {
  it(
    "runs the version of package.json, and its labels say so",
    inEveryVariant(({ manifests }) => {
      const { metadata, spec } = service(manifests);
      // A release also has the digest.
      expect(/:([^:/@]+)(@sha256:[0-9a-f]{64})?$/.exec(api(manifests).image ?? "")?.[1]).to.equal(version);
      for (const labels of [metadata.labels, spec.template.metadata.labels])
        expect(labels).to.include({ "app.kubernetes.io/version": version });
    }),
  );

  it(
    "is probed on the ops port: /livez for startup and liveness, /readyz for readiness",
    inEveryVariant(({ manifests }) => {
      const { startupProbe, livenessProbe, readinessProbe } = api(manifests);
      const paths = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
      expect(paths).to.deep.equal(["/livez", "/livez", "/readyz"].map((path) => ({ path, port: "ops" })));
    }),
  );

  it(
    "declares the ports of the settings",
    inEveryVariant(({ manifests }) => {
      const declared = Object.fromEntries(
        (api(manifests).ports ?? []).map(({ name, containerPort }) => [name, `${containerPort}`]),
      );
      const { PORT, OPS_PORT } = settings(manifests);
      expect(declared).to.deep.equal({ api: PORT, ops: OPS_PORT });
    }),
  );

  it(
    "outlives its removal from the Service by a preStop that needs no shell, and has time to drain after it",
    inEveryVariant(({ manifests }) => {
      const preStop = api(manifests).lifecycle?.preStop?.sleep?.seconds;
      expect(preStop).to.be.at.least(ENDPOINTS_SETTLE_SECONDS);
      const { terminationGracePeriodSeconds } = service(manifests).spec.template.spec;
      expect(terminationGracePeriodSeconds).to.be.above(Number(preStop) + STOP_MS / 1000);
    }),
  );

  it(
    "accepts connections after SIGTERM until the readiness probe has found it not ready",
    inEveryVariant(({ manifests }) => {
      const { periodSeconds = 10, failureThreshold = 3 } = api(manifests).readinessProbe ?? {};
      expect(periodSeconds * failureThreshold * 1000).to.be.below(MAX_LISTEN_MS);
    }),
  );

  it(
    "takes MONGODB_URL, REDIS_URL and SMTP_URL from Secrets, of which only the last may be missing",
    inEveryVariant(({ manifests }) => {
      // kustomize adds a hash to the names of what it generates.
      const secrets = (api(manifests).env ?? []).filter(({ valueFrom }) => valueFrom !== undefined);
      const env = secrets.map(({ name, valueFrom }) => {
        const { name: secret, ...rest } = valueFrom?.secretKeyRef ?? {};
        return [name, { secret: secret?.replace(/-[a-z0-9]{10}$/, ""), ...rest }];
      });
      expect(Object.fromEntries(env)).to.deep.equal({
        MONGODB_URL: { secret: "mongodb", key: "url" },
        REDIS_URL: { secret: "redis", key: "url" },
        SMTP_URL: { secret: "mail", key: "url", optional: true },
      });
    }),
  );

  it(
    "takes everything else from the one ConfigMap: settings with values that the service accepts",
    inEveryVariant(({ manifests }) => {
      const { name } = settingsMap(manifests).metadata;
      expect(api(manifests).envFrom).to.deep.equal([{ configMapRef: { name } }]);
      const known = describeConfig(readConfig({})).map((setting) => setting.name);
      expect(known).to.include.members(Object.keys(settings(manifests)));
      for (const [name, value] of Object.entries(settings(manifests))) expect(value, name).not.to.equal("");
      readConfig(settings(manifests)); // throws if it refuses one
    }),
  );

  it(
    "has the limits that the service promises, also without Redis",
    inEveryVariant(({ manifests }) => {
      expect(settings(manifests)).not.to.have.any.keys(LOAD_TESTS_ONLY);
      const { replicas = 1, strategy } = service(manifests).spec;
      const pods = (autoscaler(manifests)?.maxReplicas ?? replicas) + Number(strategy?.rollingUpdate?.maxSurge);
      const { REPLICAS = "1", REPLICAS_EXPECTED } = settings(manifests);
      expect(Number(REPLICAS_EXPECTED)).to.be.at.least(pods * Number(REPLICAS));
    }),
  );

  it(
    "never has fewer replicas during a rolling update than before",
    inEveryVariant(({ manifests }) => {
      const { strategy } = service(manifests).spec;
      expect(strategy).to.deep.equal({ type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    }),
  );

  it(
    "has two replicas or more, set either by the autoscaler, which needs CPU requests, or in the Deployment",
    inEveryVariant(({ manifests }) => {
      expect(fewestReplicas(manifests)).to.be.at.least(2);
      expect(ofKind("HorizontalPodAutoscaler", manifests)).to.have.length.at.most(1);
      const scaler = autoscaler(manifests);
      if (scaler === undefined) return;
      expect(service(manifests).spec).not.to.have.property("replicas");
      expect(scaler.scaleTargetRef).to.include({ kind: "Deployment", name: "onboarding" });
      expect(scaler.maxReplicas).to.be.above(fewestReplicas(manifests));
      for (const { resource } of scaler.metrics ?? [])
        if (resource !== undefined) expect(api(manifests).resources?.requests).to.include.keys(resource.name);
    }),
  );

  it(
    "lets a node be drained: its one disruption budget lets a pod go, and never all",
    inEveryVariant(({ manifests }) => {
      const { labels = {} } = service(manifests).spec.template.metadata;
      const budgets = ofKind("PodDisruptionBudget", manifests).filter(({ spec }) => selects(spec.selector, labels));
      expect(budgets).to.have.length(1);
      const fewest = fewestReplicas(manifests);
      expect(evictable(budgets[0]!.spec, fewest)).to.be.within(1, fewest - 1);
    }),
  );

  it(
    "spreads its replicas over zones and hosts",
    inEveryVariant(({ manifests }) => {
      const { metadata, spec } = service(manifests).spec.template;
      const spread = spec.topologySpreadConstraints?.filter(
        ({ labelSelector }) => labelSelector && selects(labelSelector, metadata.labels ?? {}),
      );
      const keys = spread?.map(({ topologyKey }) => topologyKey);
      expect(keys).to.have.members(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]);
    }),
  );

  it(
    "has an account of its own and two Services, of which the one for clients publishes the API alone",
    inEveryVariant(({ manifests }) => {
      const { serviceAccountName } = service(manifests).spec.template.spec;
      const accounts = manifests.filter(({ kind }) => kind === "ServiceAccount");
      expect(accounts.map(({ metadata }) => metadata.name)).to.deep.equal([serviceAccountName]);
      const targets = (name: string) => one("Service", manifests, name).spec.ports.map(({ targetPort }) => targetPort);
      expect(targets("onboarding")).to.deep.equal(["api"]);
      expect(targets("onboarding-ops")).to.deep.equal(["ops"]);
    }),
  );
});
