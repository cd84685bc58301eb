import { existsSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { downloaded, fetchProgram } from "./fetch-program.ts";
import { SetupError, say } from "./output.ts";
import { firstThatRuns, onPath } from "./programs.ts";
import type { ServerSpec } from "./server-process.ts";
import { type MongoProgram, STANDIN, findStandin } from "./standin.ts";

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
  if (hasMongodData) {
    throw new SetupError(
      `${dataDir} holds the data of a real mongod, but there is no mongod: install mongod on the PATH, or set MONGODB_URL.`,
    );
  }
  const standin = await findStandin(tools, signal);
  if (standin === undefined) {
    throw new SetupError(
      "MongoDB is missing: install mongod on the PATH, install python3 (3.10 or newer, with venv) for a stand-in, or set MONGODB_URL to a running server.",
    );
  }
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

/** @param dir data folder; must exist. */
export function mongoSpec({ program, dir, log }: { program: MongoProgram; dir: string; log: string }): ServerSpec {
  return {
    name: program.name,
    command: program.command,
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
