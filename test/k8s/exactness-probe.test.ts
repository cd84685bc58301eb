import { expect } from "chai";
import { build } from "./build.ts";
import { api, one, podsOf, selects, service, settingsMap } from "./manifests.ts";

describe("the exactness probe of k8s/", () => {
  for (const folder of ["overlays/production", "overlays/dev"]) {
    describe(`on ${folder}`, () => {
      const built = () => build({ folder, components: ["exactness-probe"] });

      it("runs the service's image with the service's settings and Secrets, and an author for the audit", async () => {
        const { manifests } = await built();
        const [container] = podsOf(manifests).find(({ owner }) => owner === "CronJob/exactness-probe")!.containers;
        expect(container!.image).to.equal(api(manifests).image);
        expect(container!.envFrom).to.deep.equal([{ configMapRef: { name: settingsMap(manifests).metadata.name } }]);
        const ofService = api(manifests).env!.filter(({ name }) => name !== "SMTP_URL");
        expect(container!.env).to.deep.include.members([
          ...ofService,
          { name: "ADMIN_ACTOR", value: "exactness-probe" },
        ] as typeof ofService);
      });

      it("runs in every window, far from its edges, never twice at once, and never again", async () => {
        const { manifests } = await built();
        const { spec } = one("CronJob", manifests);
        const [, minute = ""] = /^(\d+) \* \* \* \*$/.exec(spec.schedule) ?? [];
        expect(Number(minute)).to.be.within(16, 44).and.not.to.equal(30);
        expect(spec.concurrencyPolicy).to.equal("Forbid");
        expect(spec.jobTemplate.spec).to.include({ backoffLimit: 0 });
      });

      it("asks the Service, and belongs to no Service itself", async () => {
        const { manifests } = await built();
        const probe = podsOf(manifests).find(({ owner }) => owner === "CronJob/exactness-probe")!;
        const { command = [] } = probe.containers[0] as { command?: string[] };
        const { value = "" } = probe.containers[0]!.env!.find(({ name }) => name === "SERVICE")!;
        const url = new URL(command[command.indexOf("--url") + 1]!.replace("$(SERVICE)", value));
        const { spec } = one("Service", manifests, url.hostname);
        expect(spec.ports.map(({ port }) => port)).to.include(Number(url.port || 80));
        expect(selects({ matchLabels: spec.selector! }, service(manifests).spec.template.metadata.labels!)).to.equal(
          true,
        );
        for (const { kind, spec } of manifests)
          if (kind === "Service")
            expect(
              selects({ matchLabels: (spec as { selector: Record<string, string> }).selector }, probe.labels),
            ).to.equal(false);
      });
    });
  }

  it("trusts the authorities of ca-bundle and has the class of priority, as the service does", async () => {
    const components = ["exactness-probe", "ca-bundle", "priority"];
    const { manifests } = await build({ folder: "overlays/production", components });
    const [ofService, ofProbe] = ["Deployment/onboarding", "CronJob/exactness-probe"].map((name) => {
      const { spec, containers } = podsOf(manifests).find(({ owner }) => owner === name)!;
      const trusted = containers[0]!.env!.find((entry) => entry.name === "NODE_EXTRA_CA_CERTS")!;
      const { volumeMounts } = containers[0]!;
      return { trusted, volumeMounts, volumes: spec.volumes, priority: spec.priorityClassName };
    });
    expect(ofProbe!.trusted).to.deep.equal(ofService!.trusted);
    expect(ofProbe!.priority).to.equal(ofService!.priority).and.not.to.equal(undefined);
    const isBundle = ({ name }: { name: string }) => name === "ca-bundle";
    expect(ofProbe!.volumeMounts?.filter(isBundle)).to.deep.equal(ofService!.volumeMounts?.filter(isBundle));
    expect(ofProbe!.volumes?.filter(isBundle)).to.deep.equal(ofService!.volumes?.filter(isBundle)).and.have.length(1);
  });
});
