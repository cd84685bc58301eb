import { spawn } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { extname } from "node:path";
import { buffer, text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import pLimit from "p-limit";
import { Problem, problem } from "../problems.ts";

/** How packs are typeset. Tests change it. */
export const TYPESETTING = {
  /** typeset-program.ts, or typeset-program.js if this file is bundled. */
  program: new URL(`../pack/typeset-program${extname(import.meta.url)}`, import.meta.url),
  /** Maximum time to typeset one pack. The largest takes 5 s on a machine with nothing else to do. */
  deadlineMs: 20_000,
  /** Maximum time in the queue. */
  waitMs: 20_000,
  /** Maximum number of packs that wait or are typeset, and how many of them may be of one account. */
  places: 16,
  placesPerAccount: 4,
  /**
   * Keeps V8's heap small, unlike the service's: beside other load it grew by 30 MB, because the collector ran late. The
   * program calls `gc` before it typesets a pack again.
   */
  options: ["--initial-old-space-size=0", "--max-semi-space-size=4", "--expose-gc"],
};

/** Seconds after which a client may try again. */
const RETRY_AFTER = "5";

/** Two run at once, because of their memory. One core stays free for other requests. */
const queue = pLimit(Math.min(2, Math.max(1, availableParallelism() - 1)));

/** The account of each pack that waits or is typeset. */
const places: string[] = [];

interface Reader {
  readonly accountId: string;
  /** Aborted when the client has left. */
  readonly left: AbortSignal;
}

/**
 * Typesets a pack, given as JSON, as a PDF. A process of its own does all work that grows with the text: a process can be
 * ended at any moment, a thread cannot while it runs native code. If the client leaves, the process is ended, or never
 * started. The same pack gives the same bytes.
 * @throws problem pack_unavailable if too many packs wait, if it takes too long, or if the process fails.
 */
export async function typeset(pack: Uint8Array, { accountId, left }: Reader): Promise<Uint8Array> {
  const mine = places.filter((id) => id === accountId).length;
  if (mine >= TYPESETTING.placesPerAccount)
    throw unavailable(`${mine} packs of this account are being typeset. Wait for one of them, then try again.`);
  if (places.length >= TYPESETTING.places)
    throw unavailable("Too many packs are being typeset. Try again in a few seconds, or read the pack as JSON.");
  places.push(accountId);
  try {
    return await queued(left, () => runProgram(pack, left));
  } finally {
    places.splice(places.indexOf(accountId), 1);
  }
}

/** Runs `work` when its turn comes, unless it has waited too long or the client has left by then. */
function queued<T>(left: AbortSignal, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let waits = true;
    const giveUp = () => {
      waits = false;
      const late = "The pack waited too long for its turn. Try again, or read the pack as JSON.";
      reject(left.aborted ? clientLeft() : unavailable(late));
    };
    const timer = setTimeout(giveUp, TYPESETTING.waitMs);
    left.addEventListener("abort", giveUp);
    if (left.aborted) giveUp();
    void queue(async () => {
      clearTimeout(timer);
      if (waits) await work().then(resolve, reject);
    });
  });
}

const FAILED = "The pack could not be typeset. Try again, or read the pack as JSON (?format=json).";

/** Runs the program, and ends it at the deadline or when the client leaves. */
async function runProgram(pack: Uint8Array, left: AbortSignal): Promise<Uint8Array> {
  const { options, program, deadlineMs } = TYPESETTING;
  const child = spawn(process.execPath, [...process.execArgv, ...options, fileURLToPath(program)], {
    env: {}, // it reads what clients sent, so it gets no credentials
    timeout: deadlineMs,
    killSignal: "SIGKILL",
    signal: left,
  });
  child.on("error", () => undefined); // it could not be started; `close` rejects below, or there is no stdin
  if (child.pid === undefined) throw unavailable(FAILED);
  child.stdin.on("error", () => undefined); // it has ended early; its exit says why
  child.stdin.end(pack);
  const output = Promise.all([buffer(child.stdout), text(child.stderr), once(child, "close")]);
  try {
    const [pdf, complaint, [code]] = (await output) as [Buffer, string, [number | null]];
    if (code === 0) return pdf;
    const cause = new Error(`The program that typesets a pack ended with code ${code}: ${complaint.slice(0, 2000)}`);
    throw unavailable(FAILED, cause);
  } catch (error) {
    if (left.aborted) throw clientLeft();
    throw error instanceof Problem ? error : unavailable(FAILED, error as Error);
  }
}

function unavailable(detail: string, cause?: Error): Problem {
  return problem("pack_unavailable", detail, { headers: { "Retry-After": RETRY_AFTER }, ...(cause && { cause }) });
}

/** http/problem.ts knows this code. Nobody reads the response. */
function clientLeft(): Error {
  return Object.assign(new Error("The client left before its pack was typeset."), { code: "ECONNRESET" });
}
