import { readdirSync, readFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { build, K8S } from "./build.ts";
import { amount, api, autoscaler, type Manifest, ofKind, one, service, settings } from "./manifests.ts";

const production = async (...components: string[]) =>
  (await build({ folder: "overlays/production", components })).manifests;

/** Returns every IPv4 address or block in the text of the manifests. */
function ipv4In(manifests: readonly Manifest[]): string[] {
  return Array.from(JSON.stringify(manifests).matchAll(/\d+\.\d+\.\d+\.\d+/g), ([text]) => text).filter(isIPv4);
}

describe("production", () => {
  it("is watched: it has the ServiceMonitor, the alerts and the dashboard, and network policies", async () => {
    const kinds = (await production()).map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    expect(kinds).to.include.members([
      "ServiceMonitor onboarding",
      "PrometheusRule onboarding",
      "ConfigMap onboarding-dashboard",
      "NetworkPolicy deny-all",
    ]);
  });

  it("has alerts whose runbook_url begins with what one line says", async () => {
    const file = "components/monitoring/kustomization.yaml";
    const text = readFileSync(join(K8S, file), "utf8").replace(/(?<=page=)\S+(?=\])/, "https://wiki.test/alerts");
    const files = { [file]: text };
    const { manifests } = await build({ folder: "overlays/production", components: [], files });
    const rules = one("PrometheusRule", manifests).spec.groups.flatMap((group) => group.rules);
    const alerts = rules.filter(({ alert }) => alert !== undefined);
    expect(alerts).to.have.length.above(10);
    for (const { alert = "", annotations } of alerts)
      expect(annotations?.["runbook_url"]).to.equal(`https://wiki.test/alerts#${alert.toLowerCase()}`);
    expect(manifests.map(({ metadata }) => metadata.name).join(" ")).not.to.contain("runbooks");
  });
});

describe("the component", () => {
  it("has a row in operating.md, whichever it is", () => {
    const names = readdirSync(join(K8S, "components")).filter((name) => !name.endsWith("-dev"));
    const page = readFileSync(join(K8S, "../src/docs/operating.md"), "utf8");
    const rows = Array.from(page.matchAll(/^\| `([a-z0-9-]+)` /gm), ([, name]) => name);
    expect(rows).to.include.members(names);
  });

  it("ipv6 gives each Service an IPv6 address alone, and the service listens on all", async () => {
    for (const folder of ["overlays/production", "overlays/dev"]) {
      const { manifests } = await build({ folder, components: ["ipv6"] });
      for (const { metadata, spec } of ofKind("Service", manifests))
        expect(spec, metadata.name).to.deep.include({ ipFamilyPolicy: "SingleStack", ipFamilies: ["IPv6"] });
      expect(settings(manifests)["HOST"] ?? "::").to.equal("::");
      for (const probe of ["startupProbe", "livenessProbe", "readinessProbe"] as const)
        expect(api(manifests)[probe]?.httpGet, probe).not.to.have.property("host");
      expect(ipv4In(manifests.filter(({ kind }) => kind !== "NetworkPolicy"))).to.deep.equal([]);
      for (const { metadata, spec } of ofKind("StatefulSet", manifests))
        if (metadata.name === "mongodb") expect(spec.template.spec.containers[0]!.args).to.include("--ipv6");
    }
  });

  it("priority gives the pods a class that it brings, above pods without one and below the system's", async () => {
    const manifests = await production("priority");
    const { priorityClassName } = service(manifests).spec.template.spec;
    const found = manifests.find(
      ({ kind, metadata }) => kind === "PriorityClass" && metadata.name === priorityClassName,
    );
    expect(found?.value).to.be.within(1, 1_000_000);
    expect(found).not.to.have.property("globalDefault");
  });

  it("ca-bundle mounts the file that it names to Node, which no pod starts without", async () => {
    const manifests = await production("ca-bundle");
    const { volumes = [] } = service(manifests).spec.template.spec;
    const named = api(manifests).env?.find(({ name }) => name === "NODE_EXTRA_CA_CERTS")?.value;
    const mounted = (api(manifests).volumeMounts ?? []).flatMap(({ name, mountPath, readOnly }) => {
      expect(readOnly).to.equal(true);
      const { configMap } = volumes.find((volume) => volume.name === name) ?? {};
      expect(configMap).to.include({ name: "ca-bundle" }).and.not.to.have.property("optional");
      return (configMap?.items ?? []).map(({ path }) => join(mountPath, path));
    });
    expect(mounted).to.deep.equal([named]);
  });

  it("autoscale-event-loop adds the loop's delay to CPU, below what makes the limiter late", async () => {
    const manifests = await production("autoscale-event-loop");
    const metrics = autoscaler(manifests)?.metrics ?? [];
    expect(metrics.flatMap(({ resource }) => resource?.name ?? [])).to.deep.equal(["cpu"]);
    const [pods] = metrics.flatMap(({ pods }) => pods ?? []);
    expect(pods?.metric.name).to.equal("nodejs_eventloop_delay_p99_seconds");
    const late = Number(settings(manifests)["LIMITER_TIMEOUT_MS"]) / 1000;
    expect(amount(pods?.target.averageValue)).to.be.within(0.01, late / 2);
  });
});
