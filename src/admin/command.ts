import { pipeline } from "node:stream/promises";
import { setTimeout } from "node:timers/promises";
import type { Command } from "@commander-js/extra-typings";
import { epochOf, timestamp } from "../infra/clock.ts";
import { invalid, Problem } from "../problems.ts";
import type { ErasureOptions } from "../candidates/eraser.ts";
import type { Operations } from "./operations.ts";

/** The environment and the streams of a command. `process` has all of them. */
export interface CommandContext {
  readonly env: NodeJS.ProcessEnv;
  readonly stdin: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

/** Does the work of a command with the services. Prints what the work returns, unless undefined, as JSON. */
export type Run = (
  work: (operations: Operations, context: CommandContext) => Promise<object | undefined>,
) => Promise<void>;

/**
 * Adds a noun. Returns a function that adds a command to it. `summary` is its line in the help of `admin`, and its description
 * unless the command sets a longer one.
 */
export function nounOf(admin: Command, name: string, description: string) {
  const noun = admin.command(name).description(description);
  return (command: string, summary: string) => noun.command(command).summary(summary).description(summary);
}

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** The option of a command that calls `confirm`. */
export const YES = ["--yes", "do not ask for confirmation"] as const;

/** The option of a command that erases people. */
export const DESPITE_HOLDS = ["--despite-holds", "erase people under a hold, too"] as const;

export interface EraseOptions extends ErasureOptions {
  readonly yes?: true | undefined;
}

export async function printed(result: object, { stdout }: Pick<CommandContext, "stdout">): Promise<void> {
  await pipeline([`${JSON.stringify(result, null, 2)}\n`], stdout, { end: false });
}

const AT_ONCE = 4;

/** Parses a plain decimal number. Returns NaN for anything else; the service then says what it must be. */
export function numberIn(text: string): number {
  return /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
}

/** Returns a parser of an option that is a time (RFC 3339), as the service writes it. It throws problem validation_failed. */
export function timeOf(pointer: string): (text: string) => string {
  return (text) => {
    if (DATE_TIME.test(text) && !Number.isNaN(epochOf(text))) return timestamp(epochOf(text));
    throw invalid(pointer, "must be a time in RFC 3339, for example 2026-11-28T03:00:00Z");
  };
}

/** Repeats a task while the store does not respond, for half a minute: a failover takes ten seconds. `signal` ends the waiting. */
export async function patiently<T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let waitMs = 1_000; ; waitMs *= 2) {
    try {
      return await task();
    } catch (error) {
      if (!(error instanceof Problem && error.code === "store_unavailable") || waitMs > 16_000) throw error;
      await setTimeout(waitMs, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

/** Works on items, several at once, each patiently, and shows the progress. Ctrl-C, or an error, ends it after those under way. */
export async function severally<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  { stderr }: Pick<CommandContext, "stderr">,
  total: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const interrupt = new AbortController();
  const { signal } = interrupt;
  const stop = (cause: unknown) =>
    interrupt.abort(
      new Error("Stopped. To go on, run the same command again", cause instanceof Error ? { cause } : {}),
    );
  process.once("SIGINT", stop);
  const [began, running] = [Date.now(), new Set<Promise<void>>()];
  let done = 0;
  try {
    for await (const item of items) {
      if (running.size === AT_ONCE) await Promise.race(running);
      if (signal.aborted) break;
      const task = patiently(() => work(item), signal).catch(stop);
      running.add(task);
      void task.then(() => running.delete(task));
      const speed = ++done / ((Date.now() - began) / 1000);
      const left = Math.ceil((total - done) / speed / 60);
      if (stderr.isTTY) stderr.write(`\r${done} of ${total}, ${Math.round(speed)} a second, ${left} min to go  `);
    }
  } finally {
    await Promise.all(running);
    process.off("SIGINT", stop);
    if (stderr.isTTY && done > 0) stderr.write("\n");
  }
  signal.throwIfAborted();
}
