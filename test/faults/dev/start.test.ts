import { lstatSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { expect } from "chai";
import { dataDirOf, toolsIn } from "../../../src/dev/data-dir.ts";
import { readServers } from "../../../src/dev/servers-file.ts";
import type { AccountLimits } from "../../../src/limits/account-limits.ts";
import { greeting, start, stop, useFolder } from "../../dev/support.ts";
import { asking } from "../../infra/redis-forms.ts";
import { clearOfTheEdge, HOUR_MS } from "../replicas/edge.ts";
import { type Answer, Client } from "../../support/client.ts";

/** Returns the files and folders outside `tools` that anyone but their owner may read or write. */
function openFiles(dataDir: string): string[] {
  return [".", ...readdirSync(dataDir, { recursive: true, encoding: "utf8" })].filter(
    (name) => !name.startsWith("tools") && (lstatSync(join(dataDir, name)).mode & 0o077) !== 0,
  );
}

/** Waits until Redis has given all that it was told to the kernel. With appendfsync everysec that may take a second. */
async function untilWritten(url: string): Promise<void> {
  await asking(url, async (client) => {
    const isWritten = async () =>
      /aof_buffer_length:0\r[^]*aof_pending_bio_fsync:0\r/.test(await client.info("persistence"));
    while (!(await isWritten())) await setTimeout(20);
  });
}

describe("npm start, without REDIS_URL and MONGODB_URL", function () {
  this.timeout(120_000);
  const folder = useFolder();

  it("starts its own Redis and MongoDB again if they die, with their data", async () => {
    await clearOfTheEdge(60_000, HOUR_MS); // the count is that of one window
    symlinkSync(toolsIn(dataDirOf(process.env)), join(folder(), "tools"));
    const child = start(folder(), { REDIS_URL: "", MONGODB_URL: "", LIMIT_SCALE: "1000" });
    const printed = text(child.stderr!);
    const [, url, key] = /(http:\S+)[^]*(cos_live_\w+)/.exec(await greeting(child)) ?? [];
    child.stdout?.resume(); // the service would wait if nobody read its log
    const client = new Client(url!.replace(/\/candidates$/, ""), key!);
    const { id } = (await client.post("/candidates", { name: "Ada" })).body;
    const { redis, mongodb } = readServers(folder());
    await untilWritten(redis!.url);
    for (const each of [redis, mongodb]) process.kill(each!.pid, "SIGKILL");
    const answers: Answer[] = [];
    while (answers.at(-1)?.status !== 200) answers.push(await client.get(`/candidates/${id}`));
    expect(new Set(answers.map(({ status }) => status)).size, "it was away in between").to.equal(2);
    expect(answers.at(-1)?.body.name).to.equal("Ada");
    const limits = (await client.get("/limits")).body as unknown as AccountLimits;
    expect(limits.surfaces.find(({ surface }) => surface === "create")?.account.used).to.equal(1);
    expect(readServers(folder()).redis?.url).to.equal(redis?.url);
    expect(openFiles(folder()), "files that others may read").to.deep.equal([]);
    expect(await stop(child, "SIGTERM")).to.equal(0);
    expect((await printed).match(/stopped unexpectedly/g)).to.have.length(2);
  });
});
