import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { MongoClient } from "mongodb";
import { downloaded, fetchProgram } from "./fetch-program.ts";
import { SetupError, say } from "./output.ts";
import { firstThatRuns, onPath } from "./programs.ts";
import { findInVenv } from "./python.ts";
import type { ServerSpec } from "./server-process.ts";

/** A program that speaks MongoDB's protocol, and how to run it. */
export interface MongoProgram extends Pick<ServerSpec, "name" | "command"> {
  args(dir: string, port: number): string[];
  /** Its own folder inside a data folder: mongod and the stand-in cannot read each other's files. */
  readonly folder: string;
}

/** nx-27017 speaks MongoDB's protocol over SQLite files. That is enough for development on machines without mongod. */
export const STANDIN = { name: "nx-27017 0.8.1", folder: "mongo-standin" } as const;

const REQUIREMENTS = fileURLToPath(new URL("standin-requirements.txt", import.meta.url));
const RESPONSE_TIMEOUT_MS = 2000;
const MONGOD_FOLDER = "mongo";

/**
 * Finds a MongoDB server: mongod on PATH, else the mongod that mongodb-memory-server-core downloads once, else the stand-in.
 * If `dataDir` holds data, finds only the kind of server that wrote it: the other one cannot read it.
 * @param tools folder of downloaded programs.
 * @throws {SetupError} if there is none.
 */
export async function findMongo(tools: string, signal: AbortSignal, dataDir?: string): Promise<MongoProgram> {
  const hasMongodData = dataDir !== undefined && existsSync(join(dataDir, MONGOD_FOLDER, "WiredTiger"));
  const hasStandinData = dataDir !== undefined && existsSync(join(dataDir, STANDIN.folder));
  if (hasMongodData || !hasStandinData) {
    const command = await firstThatRuns([
      () => onPath("mongod"),
      () => downloaded("mongod", tools),
      () => fetchProgram("mongod", tools, signal),
    ]);
    if (command !== undefined) return mongod(command);
  }
  const advice = "install mongod on the PATH, or set MONGODB_URL";
  if (hasMongodData)
    throw new SetupError(`${dataDir} holds the data of a real mongod, but there is no mongod: ${advice}.`);
  const standin = await findStandin(tools, signal);
  if (standin === undefined)
    throw new SetupError(
      "MongoDB is missing: install mongod on the PATH, install python3 (3.10 or newer, with venv) for a stand-in, or set MONGODB_URL to a running server.",
    );
  say(
    `MongoDB: using ${standin.name} over SQLite, a stand-in for development. To use a real MongoDB, set MONGODB_URL, or start with an empty DATA_DIR and mongod on the PATH.`,
  );
  return standin;
}

function mongod(command: string): MongoProgram {
  return {
    name: "mongod",
    command,
    args: (dir, port) => ["--dbpath", dir, "--port", `${port}`, "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet"],
    folder: MONGOD_FOLDER,
  };
}

/**
 * Finds the stand-in in its venv in `tools`, and installs it on first use.
 * @returns undefined without python3 3.10 or newer, without venv, or if pip cannot install the packages.
 */
export async function findStandin(tools: string, signal: AbortSignal): Promise<MongoProgram | undefined> {
  const python = await findInVenv(STANDIN.name, { tools, requirements: REQUIREMENTS, signal });
  if (python === undefined) return undefined;
  return {
    ...STANDIN,
    command: python,
    args(dir, port) {
      // By default all stand-ins share one log and one pid file in the temporary folder.
      const files = ["--data-dir", dir, "--log-file", join(dir, "nx.log"), "--pid-file", join(dir, "nx.pid")];
      return ["-m", "nx_27017.nx_27017", "--host", "127.0.0.1", "-p", `${port}`, ...files];
    },
  };
}

/** @param dir data folder; must exist. */
export function mongoSpec({ program, dir, log }: { program: MongoProgram; dir: string; log: string }): ServerSpec {
  return {
    ...program,
    args: (port) => program.args(dir, port),
    url: (port) => `mongodb://127.0.0.1:${port}`,
    log,
    askPid: askMongoPid,
  };
}

/** Asks a MongoDB server for its process id. Rejects if it does not respond within two seconds. */
export async function askMongoPid(url: string): Promise<number> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: RESPONSE_TIMEOUT_MS,
    connectTimeoutMS: RESPONSE_TIMEOUT_MS,
    socketTimeoutMS: RESPONSE_TIMEOUT_MS,
  });
  try {
    const status = await client.db("admin").command({ serverStatus: 1 });
    return Number(status["pid"]);
  } finally {
    await client.close();
  }
}
