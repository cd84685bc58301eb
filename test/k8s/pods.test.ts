import { expect } from "chai";
import { inEveryVariant } from "./build.ts";
import { amount, type Container, type Pods, podsOf } from "./manifests.ts";

/** The types of volumes that the restricted Pod Security Standard allows. */
const VOLUMES = "configMap csi downwardAPI emptyDir ephemeral persistentVolumeClaim projected secret".split(" ");

describe("every pod of k8s/", () => {
  const inEveryPod = (check: (pods: Pods) => void) =>
    inEveryVariant(({ manifests }) => podsOf(manifests).forEach(check));
  const inEveryContainer = (check: (container: Container, owner: string) => void) =>
    inEveryPod(({ owner, containers }) => containers.forEach((container) => check(container, owner)));

  it(
    "runs images whose tag names a version",
    // A colon before the last slash belongs to the registry. `latest` has no digit.
    inEveryContainer(({ image }, owner) => expect(image, owner).to.match(/:[^:/@]*\d[^:/@]*(@|$)/)),
  );

  it(
    "requests CPU and memory, and limits both at no less",
    inEveryContainer(({ resources }, owner) => {
      for (const resource of ["cpu", "memory"]) {
        const requested = amount(resources?.requests?.[resource]);
        expect(requested, `${owner}: requested ${resource}`).to.be.above(0);
        expect(amount(resources?.limits?.[resource]), `${owner}: limit of ${resource}`).to.be.at.least(requested);
      }
    }),
  );

  it(
    "is probed for its start, liveness and readiness, unless it is a Job's",
    inEveryPod(({ owner, spec }) => {
      for (const container of /^(Cron)?Job\//.test(owner) ? [] : spec.containers)
        expect(container, owner).to.include.keys("startupProbe", "livenessProbe", "readinessProbe");
    }),
  );

  it(
    "keeps the restricted Pod Security Standard",
    inEveryPod(({ owner, spec }) => {
      const { securityContext: context, volumes = [] } = spec;
      expect(context, owner).to.deep.include({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
      expect(context?.runAsUser, `${owner}: Kubernetes can check runAsNonRoot only by number`).to.be.above(0);
      expect(spec, owner).not.to.have.any.keys("hostNetwork", "hostPID", "hostIPC");
      const types = volumes.flatMap((volume) => Object.keys(volume).filter((member) => member !== "name"));
      for (const type of types) expect(type, owner).to.be.oneOf(VOLUMES);
    }),
  );

  it(
    "has no privileges, and cannot write to its root file system",
    inEveryContainer(({ ports = [], securityContext: context }, owner) => {
      expect(context, owner).to.deep.equal({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      for (const port of ports) expect(port, owner).not.to.have.property("hostPort");
    }),
  );

  it(
    "gets no token of Kubernetes, by itself or from its account",
    inEveryVariant(({ manifests }) => {
      for (const { owner, spec } of podsOf(manifests)) expect(spec.automountServiceAccountToken, owner).to.equal(false);
      for (const { kind, metadata, automountServiceAccountToken } of manifests)
        if (kind === "ServiceAccount") expect(automountServiceAccountToken, metadata.name).to.equal(false);
    }),
  );

  it(
    "has the recommended labels",
    inEveryPod(({ owner, labels }) => {
      expect(labels, owner).to.include.keys("app.kubernetes.io/name", "app.kubernetes.io/part-of");
    }),
  );
});
