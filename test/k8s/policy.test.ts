import { expect } from "chai";
import { build, type Built, variants } from "./build.ts";
import { ofKind, one, podsOf, service } from "./manifests.ts";
import { rules } from "./rules.ts";

const PRODUCTION = { folder: "overlays/production", components: ["network-policies", "network-policies-otlp"] };
const DEV = { folder: "overlays/dev", components: ["network-policies", "network-policies-dev"] };

describe("what the overlays of k8s/ build", () => {
  let built: Built[] = [];

  before("build every overlay, and every component on production", async () => {
    built = await Promise.all((await variants()).map(build));
    expect(built.map(({ title }) => title)).to.include.members([
      "base",
      "overlays/dev",
      "overlays/production",
      "overlays/production + network-policies",
    ]);
  });

  for (const { title, faults, broken } of rules) {
    describe(title, () => {
      it("holds", () => {
        const found = built.flatMap((one) => faults(one.manifests).map((fault) => `${one.title}: ${fault}`));
        expect(found).to.deep.equal([]);
      });

      for (const { title, breaks, fault, in: where = "production" } of broken) {
        it(`is checked: ${title}`, async () => {
          const { manifests } = await build(where === "dev" ? DEV : PRODUCTION);
          const copy = structuredClone([...manifests]);
          breaks(copy);
          expect(
            faults(copy).some((text) => fault.test(text)),
            faults(copy).join("\n") || "no fault",
          ).to.equal(true);
        });
      }
    });
  }

  it("is checked by rules that were all seen to fail", () => {
    expect(rules.filter(({ broken }) => broken.length === 0)).to.deep.equal([]);
  });

  for (const component of ["network-policies-dev", "network-policies-otlp", "network-policies-mail"]) {
    it(`refuses ${component} without network-policies: alone it would deny every other path`, async () => {
      const built = build({ folder: "overlays/dev", components: [component] });
      const error = await built.then(
        () => undefined,
        (error: unknown) => error as Error,
      );
      expect(error?.message).to.match(/deny-all/);
    });
  }

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
});
