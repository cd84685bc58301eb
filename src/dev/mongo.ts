import { existsSync } from "node:fs";
import { join } from "node:path";
import { MongoClient } from "mongodb";
import { downloaded, fetchProgram } from "./fetch-program.ts";
import type { MongoProgram } from "./mongo-program.ts";
import { SetupError, say } from "./output.ts";
import { onPath, runs } from "./programs.ts";
import type { ServerSpec } from "./server-process.ts";
import { STANDIN, findStandin } from "./standin.ts";

const ANSWER_MS = 2000;

const MONGOD_FOLDER = "mongo";

/**
 * Finds a MongoDB server: mongod on PATH, the mongod that mongodb-memory-server-core downloads once, or the stand-in. Data
 * that is already in `dataDir` decides first: a server that cannot read it would look as if everything had been lost.
 * @param tools folder that keeps what was downloaded.
 * @throws {SetupError} saying what to do when there is none.
 */
export async function findMongo(tools: string, signal: AbortSignal, dataDir?: string): Promise<MongoProgram> {
  const hasMongodData = dataDir !== undefined && existsSync(join(dataDir, MONGOD_FOLDER, "WiredTiger"));
  const hasStandinData = dataDir !== undefined && existsSync(join(dataDir, STANDIN.folder));
  if (hasMongodData || !hasStandinData) {
    const command = await findMongod(tools, signal);
    if (command !== undefined) return mongod(command);
  }
  if (hasMongodData) {
    throw new SetupError(
      `${dataDir} holds a real mongod's data, and there is no mongod: install one so that it is on PATH, or set MONGODB_URL.`,
    );
  }
  const standin = await findStandin(tools, signal);
  if (standin === undefined) {
    throw new SetupError(
      "MongoDB is missing: install mongod so that it is on PATH, or python3 (3.10 or newer, with venv) for a stand-in, or set MONGODB_URL to a running one.",
    );
  }
  say(
    `MongoDB: ${standin.name} over SQLite, a stand-in for development. For a real one set MONGODB_URL, or start on an empty DATA_DIR with mongod on PATH.`,
  );
  return standin;
}

async function findMongod(tools: string, signal: AbortSignal): Promise<string | undefined> {
  for (const find of [
    () => onPath("mongod"),
    () => downloaded("mongod", tools),
    () => fetchProgram("mongod", tools, signal),
  ]) {
    const program = await find();
    if (program === undefined) continue;
    if (await runs(program)) return program;
    say(`${program} does not run on this machine, so it is passed over.`);
  }
  return undefined;
}

function mongod(command: string): MongoProgram {
  return {
    name: "mongod",
    command,
    args: (dir, port) => ["--dbpath", dir, "--port", `${port}`, "--bind_ip", "127.0.0.1", "--nounixsocket", "--quiet"],
    folder: MONGOD_FOLDER,
  };
}

/** @param dir holds its data and must exist. */
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

export async function askMongoPid(url: string): Promise<number> {
  const client = new MongoClient(url, {
    serverSelectionTimeoutMS: ANSWER_MS,
    connectTimeoutMS: ANSWER_MS,
    socketTimeoutMS: ANSWER_MS,
  });
  try {
    const status = await client.db("admin").command({ serverStatus: 1 });
    return Number(status["pid"]);
  } finally {
    await client.close();
  }
}
