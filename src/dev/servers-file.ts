import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Type, { type Static } from "typebox";
import { Value } from "typebox/value";

/** A server that `npm start` or `npm test` started, as recorded in `servers.json` in the data folder. */
const ServerRecord = Type.Object({ url: Type.String(), pid: Type.Integer({ minimum: 1 }) });
export type ServerRecord = Static<typeof ServerRecord>;

const ServerRecords = Type.Object({ redis: Type.Optional(ServerRecord), mongodb: Type.Optional(ServerRecord) });
type ServerRecords = Static<typeof ServerRecords>;
export type ServerRole = keyof ServerRecords;

/** Returns the URLs of the servers that `npm start` started on this DATA_DIR and that still run. */
export function findServers(dataDir: string): { redisUrl?: string; mongodbUrl?: string } {
  const { redis, mongodb } = readServers(dataDir);
  return {
    ...(redis && isAlive(redis.pid) && { redisUrl: redis.url }),
    ...(mongodb && isAlive(mongodb.pid) && { mongodbUrl: mongodb.url }),
  };
}

/** Reads the recorded servers, running or not. A missing or broken file counts as empty. */
export function readServers(dataDir: string): ServerRecords {
  try {
    const records: unknown = JSON.parse(readFileSync(fileIn(dataDir), "utf8"));
    return Value.Check(ServerRecords, records) ? records : {};
  } catch {
    return {};
  }
}

/** Records a server, or removes its record if `record` is undefined. Replaces the file atomically. */
export function recordServer(dataDir: string, role: ServerRole, record: ServerRecord | undefined): void {
  const records = { ...readServers(dataDir), [role]: record };
  const file = fileIn(dataDir);
  if (records.redis === undefined && records.mongodb === undefined) return rmSync(file, { force: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(records, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Returns whether a process with this id runs. Zombies do not count. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isZombie(pid);
}

/** An orphan stays in the process table as a zombie until init reaps it. In a container that may be never. */
function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false; // no /proc here
  }
}

function fileIn(dataDir: string): string {
  return join(dataDir, "servers.json");
}
