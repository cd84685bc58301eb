import { expect } from "chai";
import { build } from "./build.ts";
import { type Manifest, ofKind, one, service, settings, type Specs } from "./manifests.ts";

/** A multipart form and its other fields, around the largest file. */
const FORM_BYTES = 1024 * 1024;
/** Seconds after which the service closes an idle connection, and which it waits for the next bytes of a body. */
const [IDLE, BODY] = [75, 30];
/** The pages behind the links in reminders. Their paths hold a token. */
const LINKS = ["/u/", "/r/"];

/** Returns the object that a reference of Gateway API means. */
function meant(manifests: readonly Manifest[], { kind = "Gateway", name }: { kind?: string; name: string }) {
  return manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
}

const seconds = (duration = "") => Number(/^(\d+)s?$/.exec(duration)?.[1]);

describe("the component ingress-nginx", () => {
  let manifests: readonly Manifest[];
  let ingresses: { on: Record<string, string>; spec: Specs["Ingress"] }[];
  before(async () => {
    ({ manifests } = await build({ folder: "overlays/production", components: ["ingress-nginx"] }));
    ingresses = ofKind("Ingress", manifests).map(({ metadata, spec }) => ({
      spec,
      on: Object.fromEntries(
        Object.entries(metadata.annotations ?? {}).map(([name, value]) => [name.replace(/^nginx.+io\//, ""), value]),
      ),
    }));
  });
  const pathsOf = ({ rules }: Specs["Ingress"]) => rules.flatMap(({ http }) => http.paths);

  it("passes the largest file in a form, and buffers neither requests nor responses", () => {
    const largest = Number(settings(manifests)["MAX_DOCUMENT_BYTES"]) + FORM_BYTES;
    for (const { on } of ingresses) {
      expect(on["proxy-body-size"]).to.equal(`${largest / 1024 ** 2}m`);
      expect(on).to.include({ "proxy-request-buffering": "off", "proxy-buffering": "off" });
    }
  });

  it("waits longer than the service for the next bytes, and sends a request twice only if it was not sent", () => {
    for (const { on } of ingresses) {
      for (const name of ["proxy-read-timeout", "proxy-send-timeout"])
        expect(seconds(on[name]), name).to.be.above(BODY);
      expect(on["proxy-next-upstream"]).to.equal("error");
    }
  });

  it("changes nothing that the controller refuses by default, or that compresses", () => {
    for (const { on } of ingresses) expect(Object.keys(on).join(" ")).not.to.match(/snippet|gzip|brotli/);
  });

  it("logs no request for a link of a reminder, and all others", () => {
    const [logged, unlogged] = [true, false].map((isLogged) =>
      ingresses
        .filter(({ on }) => (on["enable-access-log"] !== "false") === isLogged)
        .flatMap(({ spec }) => pathsOf(spec)),
    );
    expect(logged?.map(({ path }) => path)).to.deep.equal(["/"]);
    expect(unlogged?.map(({ path }) => path)).to.have.members(LINKS);
  });

  it("sends to the Service of the API, with TLS, and the service trusts its one address", () => {
    for (const { spec } of ingresses) {
      for (const { backend } of pathsOf(spec)) {
        const target = one("Service", manifests, backend.service.name).spec.ports;
        expect(target.find(({ name }) => name === backend.service.port.name)?.targetPort).to.equal("api");
      }
      expect(spec.tls?.flatMap(({ hosts }) => hosts)).to.deep.equal(spec.rules.map(({ host }) => host));
    }
    expect(settings(manifests)).to.include({ TRUSTED_PROXIES: "1" });
  });
});

describe("the component gateway-envoy", () => {
  let manifests: readonly Manifest[];
  before(async () => {
    ({ manifests } = await build({ folder: "overlays/production", components: ["gateway-envoy"] }));
  });
  const policy = (kind: "ClientTrafficPolicy" | "BackendTrafficPolicy") => one(kind, manifests).spec;

  it("sends every path of the host to the Service of the API, with TLS", () => {
    const { hostnames, rules, parentRefs } = one("HTTPRoute", manifests).spec;
    const { listeners } = one("Gateway", manifests).spec;
    expect(listeners.map(({ hostname }) => hostname)).to.deep.equal(hostnames);
    for (const reference of parentRefs) {
      expect(meant(manifests, reference)).to.be.an("object");
      expect(listeners).to.deep.include({ ...listeners[0], name: reference.sectionName, protocol: "HTTPS" });
    }
    expect(rules.map(({ matches }) => matches)).to.deep.equal([undefined]);
    for (const { name, port } of rules.flatMap(({ backendRefs }) => backendRefs))
      expect(one("Service", manifests, name).spec.ports.find((one) => one.port === port)?.targetPort).to.equal("api");
  });

  it("attaches each policy to an object that is there", () => {
    const references = [
      ...policy("ClientTrafficPolicy").targetRefs,
      ...policy("BackendTrafficPolicy").targetRefs,
      one("Gateway", manifests).spec.infrastructure?.parametersRef ?? { name: "" },
    ];
    for (const reference of references)
      expect(meant(manifests, reference), JSON.stringify(reference)).to.be.an("object");
  });

  it("buffers and compresses nothing", () => {
    expect(policy("BackendTrafficPolicy")).not.to.have.any.keys("requestBuffer", "compressor", "compression");
  });

  it("bounds no request, but idle ones: longer than the service waits for bytes, shorter than it keeps connections", () => {
    expect(one("HTTPRoute", manifests).spec.rules.map(({ timeouts }) => timeouts)).to.deep.equal([{ request: "0s" }]);
    for (const kind of ["ClientTrafficPolicy", "BackendTrafficPolicy"] as const)
      expect(seconds(policy(kind).timeout.http["streamIdleTimeout"]), kind).to.be.above(BODY);
    expect(seconds(policy("BackendTrafficPolicy").timeout.http["connectionIdleTimeout"])).to.be.below(IDLE);
  });

  it("logs no request for a link of a reminder", () => {
    const { settings: logs } = one("EnvoyProxy", manifests).spec.telemetry.accessLog;
    for (const { matches = [] } of logs)
      expect(matches).to.deep.equal([LINKS.map((link) => `!request.url_path.startsWith('${link}')`).join(" && ")]);
    expect(logs).to.have.length(1);
  });

  it("leaves the service its one trusted proxy", () => {
    expect(policy("ClientTrafficPolicy")).not.to.have.any.keys("clientIPDetection", "enableProxyProtocol");
    expect(settings(manifests)).to.include({ TRUSTED_PROXIES: "1" });
    expect(service(manifests).metadata.name).to.equal("onboarding");
  });
});
