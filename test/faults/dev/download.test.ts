import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { dataDirOf, toolsIn } from "../../../src/dev/data-dir.ts";
import { findMongo } from "../../../src/dev/mongo.ts";
import { greeting, program, start, stop, useFolder } from "../../dev/support.ts";

const ARCHIVE = "mongodb-linux-x86_64-debian12-8.0.99.tgz"; // no cache holds this version
const PROXIES = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "npm_config_proxy"];

/** Serves an archive with a mongod over HTTP, as MongoDB's download host does. */
interface Mirror {
  archive: Buffer;
  md5: string | undefined;
  /** How to answer a request for the archive. */
  mood: "whole" | "breaks off half way" | "not there" | "silent";
  readonly port: number;
  /** The requests for the archive so far. */
  readonly asked: number;
  close(): void;
}

async function startMirror(archive: Buffer): Promise<Mirror> {
  let asked = 0;
  const server: Server = createServer(({ url = "" }, response) => {
    if (url.endsWith(".md5")) {
      if (mirror.md5 === undefined) response.writeHead(404).end();
      else response.setHeader("Content-Length", mirror.md5.length).end(mirror.md5);
      return;
    }
    asked++;
    const { archive: bytes, mood } = mirror;
    if (mood === "not there") response.writeHead(404).end();
    if (mood === "whole" || mood === "breaks off half way") response.setHeader("Content-Length", bytes.length);
    if (mood === "whole") response.end(bytes);
    if (mood === "breaks off half way")
      response.write(bytes.subarray(0, bytes.length / 2), () => setImmediate(() => response.destroy()));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const mirror: Mirror = {
    archive,
    md5: md5Of(archive),
    mood: "whole",
    port: (server.address() as AddressInfo).port,
    get asked() {
      return asked;
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
  return mirror;
}

/** Returns what the download host's file beside an archive says. */
function md5Of(archive: Buffer): string {
  return `${createHash("md5").update(archive).digest("hex")}  ${ARCHIVE}\n`;
}

/** Returns an archive with this script as its mongod, and with 3 MB of something else. */
function archiveOf(script: string): Buffer {
  const dir = mkdtempSync(join(tmpdir(), "onboarding-archive-"));
  program(join(dir, "mongodb-linux/bin/mongod"), script);
  writeFileSync(join(dir, "mongodb-linux/LICENSE"), randomBytes(3 * 1024 ** 2));
  execFileSync("tar", ["-czf", ARCHIVE, "mongodb-linux"], { cwd: dir });
  const archive = readFileSync(join(dir, ARCHIVE));
  rmSync(dir, { recursive: true });
  return archive;
}

describe("a machine without MongoDB", function () {
  this.timeout(60_000);
  const folder = useFolder();
  let mirror: Mirror;
  let whole: Buffer;
  before(async () => {
    // The program in the archive runs the server of this machine, as that mongod would run.
    const found = await findMongo(toolsIn(dataDirOf(process.env)), new AbortController().signal);
    const line = [found.command, ...found.args("DIR", 0)].map((word) => `'${word.replace("DIR", `'"$2"'`)}'`).join(" ");
    whole = archiveOf(`[ "$1" = --version ] && exit 0\nexec ${line.replace("'0'", '"$4"')}`);
  });
  beforeEach(async () => {
    mirror = await startMirror(whole);
  });
  afterEach(() => mirror.close());

  /** With nothing on the PATH, there is neither a mongod nor a Python for the stand-in. */
  const environment = () => ({
    ...Object.fromEntries(PROXIES.map((name) => [name, ""])),
    PATH: "",
    HOME: folder(), // the library also looks into a cache there
    MONGOMS_DOWNLOAD_MIRROR: `http://127.0.0.1:${mirror.port}`,
    MONGOMS_USE_HTTP: "true",
    MONGOMS_ARCHIVE_NAME: ARCHIVE,
  });

  /** Looks for a MongoDB as `npm start` does. @returns the path of mongod, and the lines that the user sees. */
  async function look(): Promise<{ found: string | undefined; said: string[] }> {
    const { env, stderr } = process;
    const write = stderr.write.bind(stderr);
    const said: string[] = [];
    process.env = { ...env, ...environment() };
    stderr.write = (line: string | Uint8Array) => said.push(String(line).trimEnd()) > 0;
    try {
      const { command } = await findMongo(folder(), new AbortController().signal);
      return { found: command, said };
    } catch (error) {
      expect((error as Error).message).to.match(/^MongoDB is missing: /);
      return { found: undefined, said };
    } finally {
      process.env = env;
      stderr.write = write;
    }
  }

  /** Looks for a MongoDB. @returns what the user reads before the service gives up. */
  async function complaint(): Promise<string[]> {
    const { found, said } = await look();
    expect(found).to.equal(undefined);
    return said;
  }

  it("gets a mongod once by npm start, which shows how far the download is", async () => {
    const size = (whole.length / 1024 ** 2).toFixed(1);
    for (const expected of [
      new RegExp(`^Downloading mongod …\n(  mongod: .*\n)*  mongod: ${size} MB of ${size} MB\n  Unpacking mongod …\n$`),
      /^$/,
    ]) {
      const child = start(join(folder(), "data"), { ...environment(), MONGODB_URL: "" });
      const said = text(child.stderr!);
      const shown = await Promise.race([greeting(child), once(child, "exit").then(() => "")]);
      if (shown !== "") expect(await stop(child, "SIGTERM")).to.equal(0);
      expect(shown, await said).to.include("Ready: ");
      expect(await said).to.match(expected);
    }
    expect(existsSync(join(folder(), "data/mongo")), "the data of a mongod").to.equal(true);
    expect(mirror.asked).to.equal(1);
  }).timeout(180_000);

  it("is told that the download broke off, and starts over the next time", async () => {
    mirror.mood = "breaks off half way";
    const [first, ...more] = await complaint();
    expect(first).to.equal("Downloading mongod …");
    expect(more.at(-1)).to.match(/^  failed: aborted \(http:\S+\.tgz\)$/);
    mirror.mood = "whole";
    const { found, said } = await look();
    expect(found, said.join("\n")).to.be.a("string");
    expect(said.at(-1)).to.equal("  Unpacking mongod …");
  });

  it("does not run a mongod whose checksum is wrong, and downloads it again the next time", async () => {
    mirror.archive = archiveOf(`: > ${join(folder(), "ran")}`);
    expect((await complaint()).at(-1)).to.match(/^  failed: MD5 check failed! /);
    expect(existsSync(join(folder(), "ran"))).to.equal(false);
    mirror.archive = whole;
    expect((await look()).found).to.be.a("string");
    expect(mirror.asked).to.equal(2);
  });

  it("does not run a mongod without a checksum", async () => {
    mirror.md5 = undefined;
    expect((await complaint()).at(-1)).to.match(/^  failed: Status Code isn't 200! \(it is 404\) .*\.md5\)$/);
  });

  it("is told what the host returns instead, and asks it again the next time", async () => {
    mirror.mood = "not there";
    for (const asked of [1, 2]) {
      const [first, failed, ...more] = await complaint();
      expect([first, ...more]).to.deep.equal(["Downloading mongod …"]);
      expect(failed).to.match(/^  failed: Status Code isn't 200! \(it is 404\) \(http:\S+\.tgz\)$/);
      expect(mirror.asked).to.equal(asked);
    }
  });

  it("is told why the downloaded mongod does not run", async () => {
    mirror.archive = archiveOf("echo 'libcurl.so.4: cannot open shared object file' >&2; exit 127");
    mirror.md5 = md5Of(mirror.archive);
    expect((await complaint()).at(-1)).to.match(
      /^Skipping \S+: it does not run on this machine \(libcurl\.so\.4: cannot open shared object file\)\.$/,
    );
  });

  it("does not ask a host again that is out of reach", async () => {
    mirror.close();
    const [, said] = await complaint();
    expect(said)
      .to.match(/the download host is out of reach \(.+\); the next attempt is in a day/)
      .and.include("ECONNREFUSED");
    expect(await complaint()).to.deep.equal([]);
  });

  it("takes a host that does not respond for one that is out of reach", async () => {
    mirror.mood = "silent";
    expect((await complaint()).at(-1)).to.match(
      /out of reach \(no data arrived within 5 s\); the next attempt is in a day$/,
    );
  });
});
