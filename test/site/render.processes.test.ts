import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { environmentOf, testConfig } from "../support/service.ts";

const MAIN = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

describe("a service that is not compiled", function () {
  this.timeout(60_000);

  it("renders once for many requests, and the renderer ends soon after a stop", async () => {
    const env = { ...process.env, ...environmentOf(testConfig()) };
    const service = spawn(process.execPath, ["--import", "tsx", MAIN], {
      env,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const { pid } = service;
    const renderers: string[] = [];
    /** Finds the renderers among the processes that the service has started. */
    const look = async () => {
      const children = (await readFile(`/proc/${pid}/task/${pid}/children`, "utf8")).split(" ").filter(Boolean);
      const commands = await Promise.all(children.map(commandOf));
      renderers.splice(0, Infinity, ...children.filter((_, n) => commands[n]?.includes("render/main.ts")));
    };
    try {
      const [{ port }] = (await once(service, "message")) as [{ port: number }];
      const requests = Array.from({ length: 20 }, () =>
        request({ port, path: "/docs" })
          .on("error", () => undefined)
          .end(),
      );
      await Promise.all(requests.map((sent) => once(sent, "finish")));
      // A response of the service comes after it has received all requests of the twenty before.
      await fetch(`http://127.0.0.1:${port}/openapi.json`);
      do await look();
      while (renderers.length === 0);
      expect(renderers).to.have.length(1);
      for (const sent of requests) sent.destroy();
      const gone = once(service, "exit");
      service.kill("SIGTERM");
      expect(await gone).to.deep.equal([0, null]);
      while ((await commandOf(renderers[0]!)) !== "") await setTimeout(50);
    } finally {
      service.kill("SIGKILL");
    }
  });
});

/** Returns the command of a process; "" if it has ended. */
function commandOf(pid: string): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
}
