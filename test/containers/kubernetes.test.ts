import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { build } from "../k8s/build.ts";
import { api, type Container } from "../k8s/manifests.ts";
import { useStarted } from "../support/use-started.ts";
import { IMAGE, print, VERSION } from "./support/image.ts";
import { freePort } from "../../src/dev/server-process.ts";
import { newClients, type Network, useNetwork } from "./support/network.ts";
import { eventually, evaluate, inspect, podman } from "./support/podman.ts";

/** A probe of the overlay. */
interface Probe {
  httpGet: { path: string; port: string };
  periodSeconds: number;
  timeoutSeconds: number;
  failureThreshold: number;
}

interface Pod {
  /** The container of the service in it. */
  readonly container: string;
  readonly name: string;
  /** The URL of a port, by its name in the Deployment. */
  readonly urls: Readonly<Record<string, string>>;
  /** The container in the built overlay. */
  readonly built: Container;
  remove(): Promise<void>;
}

/**
 * These tests leave out what only a cluster does: scheduling, the Service, the autoscaler and the disruption budget. They
 * also leave out preStop, which podman lacks. They run the probes themselves, because podman would run curl in the container.
 */
describe("the Deployment of k8s/overlays/production, played by podman", function () {
  this.timeout(300_000);
  before(function () {
    if (process.env["K8S_KUSTOMIZE"] !== undefined) return;
    print("Skipped: it cannot be built without kustomize.");
    this.skip();
  });
  const network = useNetwork("cluster");
  const pod = useStarted(
    "The pod",
    () => play(network),
    (played: Pod) => played.remove(),
  );

  it("starts from two Secrets, and passes its own probes", async () => {
    const { startupProbe, livenessProbe, readinessProbe } = pod.built;
    await passes(startupProbe as Probe);
    await passes(livenessProbe as Probe);
    await passes(readinessProbe as Probe);
  });

  /** Runs a probe as the kubelet does, until it passes or has failed `failureThreshold` times. */
  async function passes({ httpGet, periodSeconds, timeoutSeconds, failureThreshold }: Probe): Promise<void> {
    const url = `${pod.urls[httpGet.port]}${httpGet.path}`;
    await eventually(
      async () => {
        const { status } = await fetch(url, { signal: AbortSignal.timeout(timeoutSeconds * 1000) });
        expect(status, url).to.equal(200);
      },
      periodSeconds * failureThreshold * 1000,
    );
  }

  it("runs with its own security context, seen from inside", async () => {
    const status = await evaluate(pod.container, 'console.log(fs.readFileSync("/proc/1/status", "utf8"))');
    expect(status).to.match(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).to.match(/^Gid:\t1000\t1000\t1000\t1000$/m);
    expect(status).to.match(/^CapBnd:\t0+$/m);
    expect(status).to.match(/^NoNewPrivs:\t1$/m);
    expect(status).to.match(/^Seccomp:\t2$/m);
    for (const folder of ["/app", "/tmp"]) {
      const written = await evaluate(pod.container, `fs.writeFileSync("${folder}/x", "")`).catch(
        (error: Error) => error,
      );
      expect(String(written), folder).to.contain("EROFS");
    }
  });

  it("runs the image of this version, and serves", async () => {
    expect(pod.built.image).to.match(new RegExp(`(^|/)[^/:]+:${VERSION.replaceAll(".", "\\.")}(@|$)`));
    const [client] = await newClients(pod.container, pod.urls["api"] ?? "", 1);
    const { id } = (await client.post("/candidates", { name: "Ada" })).body;
    expect((await client.get(`/candidates/${id}`)).body.name).to.equal("Ada");
  });

  it("drains when the pod is stopped", async () => {
    await podman("pod", "stop", "--time=60", pod.name);
    expect((await inspect(pod.container)).State).to.include({ Status: "exited", ExitCode: 0, OOMKilled: false });
    expect(await podman("logs", pod.container)).to.match(/"msg":"stopped"\}$/);
  });
});

async function play(network: Network): Promise<Pod> {
  const { manifests } = await build({ folder: "overlays/production", components: [] });
  const built = api(manifests);
  const urls: Record<string, string> = {};
  const played = structuredClone(manifests);
  const container = api(played);
  for (const port of container.ports ?? []) {
    const hostPort = await freePort();
    Object.assign(port, { hostIP: "127.0.0.1", hostPort });
    urls[port.name ?? ""] = `http://127.0.0.1:${hostPort}`;
  }
  container.image = `${IMAGE}:${VERSION}`; // a release names the published one
  delete container.livenessProbe; // podman would run it with curl
  const file = join(await mkdtemp(join(tmpdir(), "onboarding-pod-")), "pod.yaml");
  const documents = played.filter(({ kind }) => kind === "Deployment" || kind === "ConfigMap");
  await writeFile(file, documents.map((document) => JSON.stringify(document)).join("\n---\n"));
  await createSecret("mongodb", network.urls.MONGODB_URL);
  await createSecret("redis", network.urls.REDIS_URL);
  await podman("play", "kube", `--network=${network.name}`, file);
  const name = await podman("pod", "ps", "--format={{.Name}}");
  return {
    name,
    container: `${name}-${container.name}`,
    urls,
    built,
    async remove() {
      await podman("pod", "rm", "--force", "--time=0", name);
      await podman("secret", "rm", "mongodb", "redis");
    },
  };
}

/** Creates a Secret with one entry, `url`, in the form that podman reads for `secretKeyRef`. */
async function createSecret(name: string, url: string): Promise<void> {
  const file = join(await mkdtemp(join(tmpdir(), "onboarding-secret-")), name);
  await writeFile(file, JSON.stringify({ url: Buffer.from(url).toString("base64") }));
  await podman("secret", "create", name, file);
}
