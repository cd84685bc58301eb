import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { expect } from "chai";
import Database from "libsql";
import { OnboardingClient } from "../../src/client/index.ts";
import { freePort } from "../../src/dev/server-process.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { deliveryOf } from "../webhooks/support.ts";
import { compiledProgram } from "./installed.ts";

const EXAMPLES = "src/docs/examples";
const run = promisify(execFile);

describe("the examples of receivers", function () {
  this.timeout(120_000);
  const service = useService();
  const account = useAccount(service);
  let client: OnboardingClient;
  let stops: (() => void)[] = [];
  beforeEach(() => {
    client = new OnboardingClient({ baseUrl: service.url, apiKey: account.key });
  });
  afterEach(() => {
    for (const stop of stops) stop();
    stops = [];
  });

  /** Starts a receiver. @returns the URL that it has, and what waits until it prints a line. */
  async function start(command: readonly string[], { secret, port }: { secret: string; port: number }) {
    const [program = "", ...args] = command;
    const settings = { ONBOARDING_URL: service.url, ONBOARDING_KEY: account.key, WEBHOOK_SECRET: secret };
    const folder = await mkdtemp(join(tmpdir(), "onboarding-receiver-"));
    const env = { ...process.env, ...settings, PORT: String(port), MIRROR_FILE: join(folder, "mirror.db") };
    const child = spawn(program, args, { env, stdio: ["ignore", "pipe", "ignore"] });
    stops.push(() => child.kill());
    const printed: string[] = [];
    const lines = createInterface(child.stdout).on("line", (line) => printed.push(line));
    const prints = async (wanted: string) => {
      while (!printed.includes(wanted)) await once(lines, "line");
    };
    return { prints, database: env.MIRROR_FILE };
  }

  async function createWebhook() {
    const port = await freePort();
    return { port, ...(await client.createWebhook({ url: `http://127.0.0.1:${port}/` })) };
  }

  /** Has a nudge sent. @returns the status that the receiver answers. */
  async function answerOf(id: string): Promise<number | null> {
    const before = (await client.readWebhook(id)).last_delivery?.at ?? null;
    await client.testWebhook(id);
    return (await deliveryOf(account.client, `/webhooks/${id}`, before)).status;
  }

  async function linesOf(example: string): Promise<string> {
    const source = await readFile(join(EXAMPLES, example), "utf8");
    expect(source.trimEnd().split("\n").length).to.be.at.most(25);
    return source;
  }

  it("receiver.ts hears of all changes, and of none that is not signed", async () => {
    const program = await compiledProgram(await linesOf("receiver.ts"), ["node"]);
    const { port, secret, id } = await createWebhook();
    const { prints } = await start([process.execPath, program], { secret, port });
    await prints("0 candidates");
    const ada = await client.createCandidate({ name: "Ada" });
    await prints("1 candidates");
    await client.createCandidates([{ external_id: "1" }, { external_id: "2" }]);
    await client.deleteCandidate(ada.id);
    expect(await answerOf(id)).to.equal(204);
    await prints("2 candidates");
    const unsigned = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "{}" });
    expect(unsigned.status).to.equal(401);
  });

  it("receiver.py does the same with Python, and verifies the old secret and the new", async function () {
    await linesOf("receiver.py");
    const python = process.env["MIRRORS_PYTHON"] ?? "python3";
    const available = await run(python, ["-c", "import httpx, sqlite3, standardwebhooks"]).then(
      () => true,
      () => false,
    );
    if (!available) this.skip(); // npm run test:mirrors installs them
    const folder = await mkdtemp(join(tmpdir(), "onboarding-receiver-"));
    for (const name of ["receiver.py", "mirror.py"]) await cp(join(EXAMPLES, name), join(folder, name));
    const command = [python, "-u", join(folder, "receiver.py")];

    const { port, secret, id } = await createWebhook();
    const rotated = await client.rotateWebhook(id);
    const first = await start(command, { secret, port });
    await first.prints("0 changes");
    const { state } = await client.createCandidate({ name: "Ada" });
    expect(await answerOf(id), "with the old secret").to.equal(204);
    const others = [rotated.secret, `whsec_${Buffer.alloc(32).toString("base64")}`];
    for (const [n, each] of others.entries()) {
      const other = await freePort();
      const started = await start(command, { secret: each, port: other });
      await started.prints("1 changes");
      await client.updateWebhook(id, { url: `http://127.0.0.1:${other}/` });
      expect(await answerOf(id), n === 0 ? "with the new secret" : "with another secret").to.equal(n === 0 ? 204 : 401);
    }

    await first.prints("1 changes");
    const db = new Database(first.database);
    expect(db.prepare("select name, state from candidates").all()).to.deep.equal([{ name: "Ada", state }]);
    db.close();
  });
});
