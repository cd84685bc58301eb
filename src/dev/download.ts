/**
 * `download.ts mongod|redis FOLDER`: downloads a server program with the library for it and reports the progress to the
 * parent process, fetch-program.ts.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import mongodbMemoryServer from "mongodb-memory-server-core";
import mongodDownload from "mongodb-memory-server-core/lib/util/MongoBinaryDownload.js";
import redisDownload from "redis-memory-server/lib/util/RedisBinaryDownload.js";

export type Program = "mongod" | "redis";

/**
 * `requesting` is sent just before each request to the download host: for the program, then for its checksum. `received` and
 * `expected` are in bytes; `expected` is 0 if the host did not send the size.
 */
export type DownloadMessage =
  | { type: "requesting" }
  | { type: "received"; received: number; expected: number }
  | { type: "done"; path: string }
  | { type: "failed"; reason: string; unreachable: boolean };

/** Errors of the network on the way to a host, before it has answered. */
const UNREACHABLE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)$/;
/** What a download of mongod that was broken off, or had a wrong checksum, leaves behind. */
const LEFT_OVER = /\.tgz(\.md5)?(\.downloading)?$/;

// The libraries verify the host's certificate only if npm's strict-ssl setting is on, and by default they retry for long.
process.env["npm_config_strict_ssl"] = "true";
process.env["MONGOMS_MAX_RETRIES"] = "1";

function report(message: DownloadMessage): void {
  process.send?.(message);
}

// Uses the inner download classes: the classes around them take a lock file that a failed download leaves behind.
const { MongoBinaryDownload } = mongodDownload;
const RedisBinaryDownload = redisDownload.default;
reportProgress(MongoBinaryDownload.prototype);
reportProgress(RedisBinaryDownload.prototype);

interface Downloader {
  dlProgress: { current: number; length: number };
  download: (this: Downloader, url: string) => Promise<string>;
  printDownloadProgress: (this: Downloader, chunk: { length: number }) => void;
}

function reportProgress(downloader: Downloader): void {
  const { download } = downloader;
  downloader.download = function (url) {
    report({ type: "requesting" });
    return download.call(this, url);
  };
  downloader.printDownloadProgress = function ({ length }) {
    this.dlProgress.current += length;
    report({ type: "received", received: this.dlProgress.current, expected: this.dlProgress.length });
  };
}

async function download(program: string | undefined, downloadDir: string): Promise<string> {
  if (program === "redis") return new RedisBinaryDownload({ downloadDir }).getRedisServerPath();
  const { DryMongoBinary } = mongodbMemoryServer;
  const options = await DryMongoBinary.generateOptions({ downloadDir });
  // locateBinary also removes what an interrupted extraction left behind.
  const found = await DryMongoBinary.locateBinary(options);
  if (found !== undefined) return found;
  // The library would use an archive that is there without asking how it got there, even if its checksum was wrong.
  for (const name of await readdir(downloadDir))
    if (LEFT_OVER.test(name)) await rm(join(downloadDir, name), { force: true });
  return new MongoBinaryDownload(options).getMongodPath();
}

/** Returns the first line of the reason, and the address. The libraries put the reason on the message's second line. */
function failure(error: unknown): { reason: string; unreachable: boolean } {
  const { message = String(error), msg = message, url, code } = error as Partial<Record<string, string>>;
  const [reason = ""] = msg.split("\n");
  return {
    reason: url === undefined ? reason : `${reason} (${url})`,
    unreachable: UNREACHABLE.test(code ?? ""),
  };
}

const [program, folder = "."] = process.argv.slice(2);
const outcome: DownloadMessage = await download(program, folder).then(
  (path) => ({ type: "done", path }),
  (error: unknown) => ({ type: "failed", ...failure(error) }),
);
// The libraries leave the connection open if the host answers with an error. It would keep this process running.
process.send?.(outcome, () => process.exit());
