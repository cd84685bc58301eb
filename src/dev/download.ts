/**
 * `download.ts mongod|redis FOLDER`: downloads a server program with the library for it. Sends the lines to print, then the
 * outcome, to the parent process, fetch-program.ts. A program of its own, because the libraries can neither be stopped nor
 * kept from writing to standard output.
 */
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import mongodbMemoryServer from "mongodb-memory-server-core";
import mongodDownload from "mongodb-memory-server-core/lib/util/MongoBinaryDownload.js";
import redisDownload from "redis-memory-server/lib/util/RedisBinaryDownload.js";

export type Program = "mongod" | "redis";

export type Outcome =
  | { path: string }
  /** `unreachable`: the download host sent nothing. */
  | { failed: string; unreachable: boolean };

const FIRST_BYTES_TIMEOUT_MS = 5000;
const REPORT_INTERVAL_MS = 2000;
/** The step between the last byte and a program that runs. */
const NEXT_STEP: Record<string, string> = {
  mongod: "Unpacking mongod …",
  redis: "Compiling redis-server; this takes a minute or two …",
};
/** Errors of the network on the way to a host. */
const UNREACHABLE = /^(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)$/;
/** What a download of mongod that was broken off, or had a wrong checksum, leaves behind. */
const LEFT_OVER = /\.tgz(\.md5)?(\.downloading)?$/;

// The libraries verify the host's certificate only if npm's strict-ssl setting is on, and by default they retry for long.
process.env["npm_config_strict_ssl"] = "true";
process.env["MONGOMS_MAX_RETRIES"] = "1";

const [program = "", folder = "."] = process.argv.slice(2);
let firstBytesTimer: NodeJS.Timeout | undefined;
let reportedAt = 0;
let isReached = false;
let isComplete = false;

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
    clearTimeout(firstBytesTimer);
    const failed = `no data arrived within ${FIRST_BYTES_TIMEOUT_MS / 1000} s`;
    firstBytesTimer = setTimeout(() => end({ failed, unreachable: !isReached }), FIRST_BYTES_TIMEOUT_MS);
    return download.call(this, url);
  };
  downloader.printDownloadProgress = function ({ length }) {
    clearTimeout(firstBytesTimer);
    isReached = true;
    this.dlProgress.current += length;
    if (isComplete) return; // this is the checksum, which is downloaded after the program
    const { current, length: expected } = this.dlProgress; // 0 if the host did not send the size
    isComplete = current === expected;
    if (!isComplete && performance.now() - reportedAt < REPORT_INTERVAL_MS) return;
    reportedAt = performance.now();
    say(`  ${program}: ${megabytes(current)}${expected > 0 ? ` of ${megabytes(expected)}` : ""}`);
    if (isComplete) say(`  ${NEXT_STEP[program]}`);
  };
}

/** Prints a line, through the parent process. */
function say(line: string): void {
  process.send?.(line);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}

async function download(downloadDir: string): Promise<string> {
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

/** The libraries put the reason on the message's second line. */
function failure(error: unknown): Outcome {
  const { message = String(error), msg = message, url, code } = error as Partial<Record<string, string>>;
  const [reason = ""] = msg.split("\n");
  const unreachable = UNREACHABLE.test(code ?? "") && !isReached;
  return { failed: url === undefined ? reason : `${reason} (${url})`, unreachable };
}

/** The libraries leave the connection open if the host responds with an error. It would keep this process running. */
function end(outcome: Outcome): void {
  process.send?.(outcome, () => process.exit());
}

end(await download(folder).then((path) => ({ path }), failure));
