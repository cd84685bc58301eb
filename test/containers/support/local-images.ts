import { execFile } from "node:child_process";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { SetupError } from "../../../src/dev/output.ts";
import { step } from "../../../src/dev/programs.ts";
import { STANDIN, findStandin } from "../../../src/dev/mongo.ts";

export type Debian = "bookworm" | "trixie";

/** Packages that the small Debians contain beside the essential ones. */
export const PACKAGES: Record<Debian, readonly string[]> = {
  bookworm: ["ca-certificates", "libstdc++6", "passwd", "python3", "redis-server"],
  trixie: ["haproxy"],
};

export interface Makings {
  /** The folder of downloaded programs. */
  readonly tools: string;
  /** A folder of this run. */
  readonly temporary: string;
  readonly signal: AbortSignal;
}

/** How to make an image that replaces the published one of that name. */
export interface LocalImage {
  readonly debian: Debian;
  readonly madeOf: string;
  /** Prints its version. */
  readonly versionCommand: readonly string[];
  /**
   * Puts files into the build's folder `context`.
   * @returns the lines of the Containerfile after FROM.
   */
  prepare(makings: Makings & { context: string; version: string }): Promise<readonly string[]>;
}

/** By the name of the product. As far as the tests can tell, they behave as the published images do. */
export const LOCAL_IMAGES: Readonly<Record<string, LocalImage>> = {
  node: {
    debian: "bookworm",
    madeOf: "Debian bookworm and npm's packages node and npm",
    versionCommand: ["node", "--version"],
    async prepare({ context, version, signal }) {
      const [release = ""] = version.split("-");
      const node = `node-linux-${process.arch}`;
      const install = ["install", "--prefix", context, "--ignore-scripts", `${node}@${release}`, "npm@11"];
      if (!(await step(`Downloading Node ${release} (npm)`, "npm", install, { signal })))
        throw new SetupError("npm could not download Node; its error is above.");
      return [
        `COPY node_modules/${node}/bin/node /usr/local/bin/node`,
        "COPY node_modules/npm /usr/local/lib/node_modules/npm",
        "RUN for name in npm npx; do ln -s ../lib/node_modules/npm/bin/$name-cli.js /usr/local/bin/$name; done",
        "RUN useradd --uid 1000 --create-home node",
      ];
    },
  },
  redis: {
    debian: "bookworm",
    madeOf: "Debian bookworm's redis-server",
    versionCommand: ["redis-server", "--version"],
    // The published image accepts connections from other containers without a password; Debian's settings do not.
    async prepare({ context }) {
      await writeProgram(context, "redis-server", 'exec /usr/bin/redis-server "$@" --protected-mode no');
      return ["COPY redis-server /usr/local/bin/", "WORKDIR /data", "VOLUME /data", 'CMD ["redis-server"]'];
    },
  },
  haproxy: {
    debian: "trixie",
    madeOf: "Debian trixie's haproxy",
    versionCommand: ["haproxy", "-v"],
    prepare: async () => ["USER haproxy", "STOPSIGNAL SIGUSR1"],
  },
  mongo: {
    debian: "bookworm",
    madeOf: `${STANDIN.name}, a stand-in: it speaks MongoDB's protocol over SQLite, and is no replica set`,
    versionCommand: ["mongod", "--version"],
    async prepare({ context, tools, signal }) {
      const standin = await findStandin(tools, signal);
      if (standin === undefined)
        throw new SetupError("The stand-in for MongoDB needs python3 (3.10 or newer, with venv) on the PATH.");
      const wherePackagesAre = ["-c", "import sysconfig; print(sysconfig.get_path('purelib'))"];
      const { stdout } = await promisify(execFile)(standin.command, wherePackagesAre);
      const unused = /\/(pip|setuptools|__pycache__)(\/|$)/;
      await cp(stdout.trim(), join(context, "packages"), { recursive: true, filter: (path) => !unused.test(path) });
      const serve = "--host 0.0.0.0 -p 27017 --data-dir /data/db --log-file /tmp/nx.log --pid-file /tmp/nx.pid";
      await writeProgram(
        context,
        "mongod",
        `[ "$1" = --version ] && exec echo "${STANDIN.name}"`,
        "rm -f /tmp/nx.pid",
        `exec python3 -m nx_27017.nx_27017 ${serve}`,
      );
      const ping = "from pymongo import MongoClient; print(MongoClient(timeoutMS=3000).admin.command('ping'))";
      await writeProgram(context, "mongosh", `exec python3 -c "${ping}"`);
      return [
        "COPY packages /opt/packages",
        "ENV PYTHONPATH=/opt/packages",
        "COPY mongod mongosh /usr/local/bin/",
        "VOLUME /data/db",
        "STOPSIGNAL SIGINT",
        'CMD ["mongod"]',
      ];
    },
  },
};

/** Writes a shell script in place of a program of the image. */
async function writeProgram(context: string, name: string, ...lines: string[]): Promise<void> {
  await writeFile(join(context, name), ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
}
