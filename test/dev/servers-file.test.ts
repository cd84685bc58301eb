import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { findServers, readServers, recordServer } from "../../src/dev/servers-file.ts";
import { useFolder } from "./support.ts";

describe("servers.json", () => {
  const folder = useFolder();

  it("gives the addresses of servers that run", async () => {
    recordServer(folder(), "redis", { url: "redis://127.0.0.1:7001", pid: process.pid });
    recordServer(folder(), "mongodb", { url: "mongodb://127.0.0.1:7002", pid: process.pid });
    expect(findServers(folder())).to.deep.equal({
      redisUrl: "redis://127.0.0.1:7001",
      mongodbUrl: "mongodb://127.0.0.1:7002",
    });
  });

  it("gives no address of a server that has ended", async () => {
    const child = spawn("true");
    await once(child, "exit");
    recordServer(folder(), "redis", { url: "redis://127.0.0.1:7001", pid: child.pid ?? 0 });
    expect(findServers(folder())).to.deep.equal({});
  });

  it("is removed with its last server", () => {
    recordServer(folder(), "redis", { url: "redis://127.0.0.1:7001", pid: 1 });
    recordServer(folder(), "mongodb", { url: "mongodb://127.0.0.1:7002", pid: 1 });
    recordServer(folder(), "redis", undefined);
    expect(readServers(folder())).to.have.all.keys("mongodb");
    recordServer(folder(), "mongodb", undefined);
    expect(existsSync(join(folder(), "servers.json"))).to.equal(false);
  });

  for (const broken of [
    "",
    "{",
    "[]",
    "null",
    '{"redis":{"url":1,"pid":2}}',
    '{"redis":{"url":"redis://h","pid":-1}}',
  ]) {
    it(`counts as empty if it contains ${JSON.stringify(broken)}`, async () => {
      writeFileSync(join(folder(), "servers.json"), broken);
      expect(findServers(folder())).to.deep.equal({});
    });
  }
});
