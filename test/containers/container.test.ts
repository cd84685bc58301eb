import { expect } from "chai";
import { type IncomingMessage, request } from "node:http";
import { once } from "node:events";
import { json } from "node:stream/consumers";
import type { Limits } from "../../src/limits/schema.ts";
import { Client } from "../support/client.ts";
import { useStarted } from "../support/use-started.ts";
import { download, readPdf } from "../pack/support.ts";
import { print } from "./support/image.ts";
import { Creates } from "./support/lanes.ts";
import { newClients, runService, type ServiceContainer, useNetwork } from "./support/network.ts";
import { eventually, evaluate, inspect, podman } from "./support/podman.ts";

/** No test reaches a limit, and a busy machine does not count as an outage. */
const SETTINGS = { LIMIT_SCALE: "1000", LIMITER_TIMEOUT_MS: "5000" };

describe("the image, run read-only, as user 1000 and without capabilities", function () {
  this.timeout(300_000);
  const network = useNetwork("single");
  const service = useStarted(
    "The container",
    () => runService("single-service", network, SETTINGS),
    (container: ServiceContainer) => container.remove(),
  );
  let client: Client;
  before(async () => {
    [client] = await newClients(service.name, service.url, 1);
  });

  it("is ready, and can do no more than it must", async () => {
    const status = await evaluate(service.name, 'console.log(fs.readFileSync("/proc/1/status", "utf8"))');
    expect(status).to.match(/^Uid:\t1000\t1000\t1000\t1000$/m);
    expect(status).to.match(/^Gid:\t1000\t1000\t1000\t1000$/m);
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(status).to.match(new RegExp(`^${set}:\\t0+$`, "m"));
    expect(status).to.match(/^NoNewPrivs:\t1$/m);
    for (const folder of ["/app", "/tmp", "/var/tmp", "/home/node"]) {
      const written = await evaluate(service.name, `fs.writeFileSync("${folder}/x", "")`).catch(
        (error: Error) => error,
      );
      expect(String(written), folder).to.contain("EROFS");
    }
  });

  it("passes its health check, which fails where nothing answers", async () => {
    await podman("healthcheck", "run", service.name);
    const [image] = JSON.parse(await podman("container", "inspect", service.name)) as [
      { Config: { Healthcheck: { Test: string[] } } },
    ];
    const [, ...check] = image.Config.Healthcheck.Test;
    await podman("exec", service.name, ...check);
    const failed = await podman("exec", "--env=OPS_PORT=1", service.name, ...check).catch((error: unknown) => error);
    expect(failed).to.include({ code: 1 });
  });

  it("refuses to change something for an operator without a name, who would be `node` in the audit", async () => {
    const admin = ["node", "dist/admin/main.js", "accounts"];
    const refused = await podman("exec", service.name, ...admin, "create", "--name=Acme").catch(
      (error: unknown) => error,
    );
    expect(refused).to.include({ code: 2 });
    expect(await podman("exec", service.name, ...admin, "list")).to.include('"object": "list"');
    const created = await podman("exec", "--env=ADMIN_ACTOR=ann", service.name, ...admin, "create", "--name=Acme");
    expect(JSON.parse(created)).to.include({ object: "account", name: "Acme" });
  });

  it("makes a pack as PDF/A with Chinese, Arabic and emoji, so it has the fonts", async () => {
    const name = "王小明 محمد 🎓 Zoë";
    const { id } = (await client.post("/candidates", { name })).body;
    const { status, bytes } = await download(client, `/candidates/${id}/pack?format=pdf`);
    expect(status).to.equal(200);
    const { pages } = await readPdf(bytes);
    for (const word of ["王小明", "🎓", "Zoë"]) expect(pages[0]).to.contain(word);
    expect(pages[0]).to.match(/[\u0600-\u06FF\uFB50-\uFEFF]{4}/);
    // The typesetter refuses PDF/A if a character has no font.
    expect(Buffer.from(bytes).toString("latin1")).to.contain("<pdfaid:part>2</pdfaid:part>");
  });

  it("drains under load when it is stopped: exit code 0, and no request is lost", async () => {
    const drained = await runService("single-drained", network, SETTINGS);
    try {
      const [busy] = await newClients(drained.name, drained.url, 1);
      const upload = await startUpload(drained, busy);
      const creates = new Creates(busy, 8);
      await creates.succeeded(50);
      const stopped = podman("stop", "--time=60", drained.name);
      await eventually(async () => expect((await fetch(`${drained.opsUrl}/readyz`)).status).to.equal(503));
      // A load balancer sends new requests until it has seen that the container is not ready.
      await creates.succeeded(50);
      await creates.end();
      const uploaded = await upload.finish();
      await stopped;
      expect(await inspect(drained.name).then(({ State }) => State.ExitCode)).to.equal(0);
      expect({ lost: creates.lost, unsent: creates.unsent }).to.deep.equal({ lost: [], unsent: 0 });
      expect([...creates.answers.keys()]).to.deep.equal([201]);
      expect(uploaded).to.equal(200);
      // Another container on the same Redis and MongoDB says what was counted.
      const { body } = await new Client(service.url, busy.key).get("/limits");
      const { surfaces } = body as unknown as Limits;
      const used = surfaces.find(({ surface }) => surface === "create")?.account.used;
      expect(used).to.equal(creates.count(201) + 1);
      print(`${creates.count(201)} creates answered around the stop, 0 lost`);
    } finally {
      await drained.remove();
    }
  });
});

/** Creates a candidate with a document, and sends the first half of the document's content. */
async function startUpload({ url }: ServiceContainer, client: Client): Promise<{ finish(): Promise<number> }> {
  const { body } = await client.post("/candidates", { documents: ["CV"] });
  const path = `/candidates/${body.id}/documents/${body.documents[0]?.id}/content`;
  const half = Buffer.alloc(100_000, "x");
  const headers = {
    Authorization: `Bearer ${client.key}`,
    "Content-Type": "text/plain",
    "Content-Length": half.length * 2,
  };
  const sending = request(url + path, { method: "PUT", headers });
  const answered = once(sending, "response") as Promise<[IncomingMessage]>;
  await new Promise((resolve) => sending.write(half, resolve));
  return {
    async finish() {
      sending.end(half);
      const [answer] = await answered;
      await json(answer);
      return answer.statusCode ?? 0;
    },
  };
}
