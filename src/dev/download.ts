/**
 * `download.ts mongod|redis FOLDER`, run by fetch-program.ts: lets the library that knows how download a server program,
 * and tells its parent how it goes.
 */
import mongodbMemoryServer from "mongodb-memory-server-core";
import mongodDownload from "mongodb-memory-server-core/lib/util/MongoBinaryDownload.js";
import redisDownload from "redis-memory-server/lib/util/RedisBinaryDownload.js";

export type Program = "mongod" | "redis";

/** `asking` is sent as the host is asked, `received` and `expected` are bytes (0: the host did not say). */
export type DownloadMessage =
  | { type: "asking" }
  | { type: "received"; received: number; expected: number }
  | { type: "done"; path: string }
  | { type: "failed"; reason: string };

// The libraries check the host's certificate only when npm's setting says so, and retry for long.
process.env["npm_config_strict_ssl"] = "true";
process.env["MONGOMS_MAX_RETRIES"] = "1";

function tell(message: DownloadMessage): void {
  process.send?.(message);
}

// The downloading classes are used without the ones around them, which take a lock that a failure leaves behind.
class MongodDownload extends mongodDownload.MongoBinaryDownload {
  override printDownloadProgress({ length }: { length: number }): void {
    this.dlProgress.current += length;
    tell({ type: "received", received: this.dlProgress.current, expected: this.dlProgress.length });
  }
}

class RedisDownload extends redisDownload.default {
  override printDownloadProgress({ length }: { length: number }): void {
    this.dlProgress.current += length;
    tell({ type: "received", received: this.dlProgress.current, expected: this.dlProgress.length });
  }
}

async function download(program: string | undefined, downloadDir: string): Promise<string> {
  if (program === "redis") return new RedisDownload({ downloadDir }).getRedisServerPath();
  const { DryMongoBinary } = mongodbMemoryServer;
  const options = await DryMongoBinary.generateOptions({ downloadDir });
  // Looking first also removes what an unpacking that broke off has left.
  return (await DryMongoBinary.locateBinary(options)) ?? new MongodDownload(options).getMongodPath();
}

const [program, folder = "."] = process.argv.slice(2);
tell({ type: "asking" });
try {
  tell({ type: "done", path: await download(program, folder) });
} catch (error) {
  tell({ type: "failed", reason: error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error) });
}
process.disconnect?.();
