import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { compiled } from "../support/compiled.ts";
import { withDatabase } from "../support/mongo-url.ts";
import { environmentOf, testConfig } from "../support/service.ts";
import { useDatabase } from "../support/use-service.ts";

describe("the start of the service", function () {
  this.timeout(30_000);
  const database = useDatabase();

  /** Starts the service, stops it once it serves, and returns what it has written to standard error. */
  async function complaints(settings: Parameters<typeof testConfig>[0]): Promise<string> {
    const MONGODB_URL = withDatabase(process.env.MONGODB_URL ?? "", database.db.databaseName);
    const env = { ...process.env, ...environmentOf(testConfig({ ...settings, MONGODB_URL })) };
    const main = await compiled("main.ts");
    const child = spawn(process.execPath, [main], { env, stdio: ["ignore", "ignore", "pipe", "ipc"] });
    if (child.stderr === null) throw new Error("Standard error is not a pipe.");
    const written = text(child.stderr);
    await once(child, "message");
    child.kill("SIGTERM");
    return written;
  }

  it("warns of limits that differ from the specification", async () => {
    const warning = (window: number, scale: number) =>
      `Warning: the limits differ from the specification (window ${window} s, scale ${scale}). Use this for load tests only.\n`;
    expect(await complaints({ LIMIT_WINDOW_SECONDS: 60 })).to.equal(warning(60, 1));
    expect(await complaints({ LIMIT_WINDOW_SECONDS: 3600, LIMIT_SCALE: 2 })).to.equal(warning(3600, 2));
  });

  it("warns once if several replicas share the port", async () => {
    expect(await complaints({ REPLICAS: 2, LIMIT_SCALE: 2 })).to.match(/^Warning: [^\n]+\n$/);
  });

  it("says nothing if they are those of the specification", async () => {
    expect(await complaints({ LIMIT_WINDOW_SECONDS: 3600 })).to.equal("");
  });
});
