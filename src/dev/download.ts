/**
 * `download.ts mongod|redis FOLDER`: downloads a server program with the library for it and reports the progress to the
 * parent process, fetch-program.ts.
 */
import mongodbMemoryServer from "mongodb-memory-server-core";
import mongodDownload from "mongodb-memory-server-core/lib/util/MongoBinaryDownload.js";
import redisDownload from "redis-memory-server/lib/util/RedisBinaryDownload.js";

export type Program = "mongod" | "redis";

/**
 * `asking` is sent just before the request to the download host. `received` and `expected` are in bytes; `expected` is 0 if
 * the host did not send the size.
 */
export type DownloadMessage =
  | { type: "asking" }
  | { type: "received"; received: number; expected: number }
  | { type: "done"; path: string }
  | { type: "failed"; reason: string };

// The libraries verify the host's certificate only if npm's strict-ssl setting is on, and by default they retry for long.
process.env["npm_config_strict_ssl"] = "true";
process.env["MONGOMS_MAX_RETRIES"] = "1";

function report(message: DownloadMessage): void {
  process.send?.(message);
}

// Uses the inner download classes: the classes around them take a lock file that a failed download leaves behind.
class MongodDownload extends mongodDownload.MongoBinaryDownload {
  override printDownloadProgress({ length }: { length: number }): void {
    this.dlProgress.current += length;
    report({ type: "received", received: this.dlProgress.current, expected: this.dlProgress.length });
  }
}

class RedisDownload extends redisDownload.default {
  override printDownloadProgress({ length }: { length: number }): void {
    this.dlProgress.current += length;
    report({ type: "received", received: this.dlProgress.current, expected: this.dlProgress.length });
  }
}

async function download(program: string | undefined, downloadDir: string): Promise<string> {
  if (program === "redis") return new RedisDownload({ downloadDir }).getRedisServerPath();
  const { DryMongoBinary } = mongodbMemoryServer;
  const options = await DryMongoBinary.generateOptions({ downloadDir });
  // locateBinary also removes what an interrupted extraction left behind.
  return (await DryMongoBinary.locateBinary(options)) ?? new MongodDownload(options).getMongodPath();
}

const [program, folder = "."] = process.argv.slice(2);
report({ type: "asking" });
try {
  report({ type: "done", path: await download(program, folder) });
} catch (error) {
  report({ type: "failed", reason: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) });
}
process.disconnect?.();
