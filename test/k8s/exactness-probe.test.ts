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
        const url = new URL(command[command.indexOf("--url") + 1]!);
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
});
