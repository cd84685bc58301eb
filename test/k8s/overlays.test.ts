import { expect } from "chai";
import { build, inEveryVariant, variants } from "./build.ts";
import { type Manifest, ofKind, one, podsOf, portOf, type Selector, selects, service } from "./manifests.ts";

/** A URL with a user or a password. */
const CREDENTIALS = /:\/\/[^/\s]*@/;

/** The kinds that are in no namespace. */
const OF_THE_CLUSTER = ["Namespace", "PriorityClass"];

/** Returns the workloads whose pods a selector selects. */
function selected(selector: Selector, manifests: readonly Manifest[]) {
  expect(Object.keys(selector.matchLabels ?? {}), "labels to select by").not.to.have.length(0);
  return podsOf(manifests).filter(({ labels }) => selects(selector, labels));
}

describe("what the overlays of k8s/ build", () => {
  it("is checked for the base, every overlay, and production with each component", async () => {
    const built = await Promise.all(variants().map(build));
    expect(built.map(({ title }) => title)).to.include.members([
      "base",
      "overlays/dev",
      "overlays/production",
      "overlays/production + network-policies",
    ]);
  });

  it(
    "has Deployments and StatefulSets that select their own pods, and no other's",
    inEveryVariant(({ manifests }) => {
      for (const kind of ["Deployment", "StatefulSet"] as const)
        for (const { metadata, spec } of ofKind(kind, manifests)) {
          const owners = selected(spec.selector ?? {}, manifests).map(({ owner }) => owner);
          expect(owners).to.deep.equal([`${kind}/${metadata.name}`]);
        }
    }),
  );

  it(
    "has Services that each select the pods of one workload, by ports that they have",
    inEveryVariant(({ manifests }) => {
      for (const { metadata, spec } of ofKind("Service", manifests)) {
        const [pods, ...others] = selected({ matchLabels: spec.selector ?? {} }, manifests);
        expect(others, metadata.name).to.deep.equal([]);
        for (const { port, targetPort = port } of spec.ports)
          expect(portOf(pods!, targetPort), `${metadata.name}: ${targetPort}`).to.be.a("number");
      }
    }),
  );

  it(
    "has ServiceMonitors that select one Service, by labels and by a port's name",
    inEveryVariant(({ manifests }) => {
      for (const { metadata, spec } of ofKind("ServiceMonitor", manifests)) {
        expect(Object.keys(spec.selector?.matchLabels ?? {}), metadata.name).not.to.have.length(0);
        expect(spec.endpoints, metadata.name).not.to.have.length(0);
        const services = ofKind("Service", manifests).filter((one) =>
          selects(spec.selector, one.metadata.labels ?? {}),
        );
        for (const { port } of spec.endpoints ?? []) {
          const named = services.filter((one) => one.spec.ports.some(({ name = "" }) => name === port));
          expect(named, `${metadata.name}: Services with a port ${port}`).to.have.length(1);
        }
      }
    }),
  );

  it(
    "is in the overlay's one namespace, which enforces the restricted Pod Security Standard",
    inEveryVariant(({ folder, manifests }) => {
      if (folder === "base") return;
      const namespaces = manifests.filter(({ kind }) => kind === "Namespace");
      expect(namespaces).to.have.length(1);
      const { name, labels } = namespaces[0]!.metadata;
      expect(labels).to.include({ "pod-security.kubernetes.io/enforce": "restricted" });
      for (const { kind, metadata } of manifests)
        if (!OF_THE_CLUSTER.includes(kind)) expect(metadata.namespace, `${kind}/${metadata.name}`).to.equal(name);
    }),
  );

  it(
    "holds no password, and no setting that belongs into a Secret",
    inEveryVariant(({ manifests }) => {
      for (const { kind, metadata, data = {}, stringData = {} } of manifests) {
        const decoded = Object.values(data).map((value) => Buffer.from(value, "base64").toString());
        const texts = kind === "Secret" ? [...decoded, ...Object.values(stringData)] : Object.values(data);
        for (const text of texts) expect(text, `${kind}/${metadata.name}`).not.to.match(CREDENTIALS);
        if (kind === "ConfigMap") expect(data).not.to.have.any.keys("MONGODB_URL", "REDIS_URL", "SMTP_URL");
      }
      for (const { owner, containers } of podsOf(manifests))
        expect(JSON.stringify(containers), owner).not.to.match(CREDENTIALS);
    }),
  );

  it(
    "generates either no Secret, or all that the service needs",
    inEveryVariant(({ manifests }) => {
      const secrets = manifests.filter(({ kind }) => kind === "Secret");
      if (secrets.length === 0) return;
      const env = podsOf(manifests).flatMap(({ containers }) => containers.flatMap(({ env = [] }) => env));
      for (const { valueFrom } of env) {
        const { name, key = "", optional } = valueFrom?.secretKeyRef ?? { optional: true };
        const secret = secrets.find(({ metadata }) => metadata.name === name);
        if (!optional) expect(secret?.data, `Secret/${name}`).to.include.keys(key);
      }
    }),
  );

  it("has 4 to 16 replicas in production, and no Secret, Job or server of its own", async () => {
    const { manifests } = await build({ folder: "overlays/production", components: [] });
    expect(one("HorizontalPodAutoscaler", manifests).spec).to.include({ minReplicas: 4, maxReplicas: 16 });
    expect(manifests.map(({ kind }) => kind)).not.to.include.oneOf(["Secret", "Job", "StatefulSet"]);
    expect(podsOf(manifests)).to.have.length(1);
  });

  it("has, in development, two replicas, Redis, MongoDB and the Job that initiates its replica set", async () => {
    const { manifests } = await build({ folder: "overlays/dev", components: [] });
    expect(service(manifests).spec.replicas).to.equal(2);
    expect(ofKind("HorizontalPodAutoscaler", manifests)).to.deep.equal([]);
    expect(podsOf(manifests).map(({ owner }) => owner)).to.have.members([
      "Deployment/onboarding",
      "StatefulSet/redis",
      "StatefulSet/mongodb",
      "Job/mongodb-initiate",
    ]);
  });

  it(
    "has no Redis but one that evicts nothing and keeps its counts over a restart",
    inEveryVariant(({ manifests }) => {
      const [redis] = ofKind("StatefulSet", manifests).filter(({ metadata }) => metadata.name === "redis");
      const options = redis?.spec.template.spec.containers[0]!.args!.join(" ");
      if (redis !== undefined)
        expect(options).to.contain("--maxmemory-policy noeviction").and.to.contain("--appendonly yes");
    }),
  );
});
