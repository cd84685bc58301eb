import { setTimeout } from "node:timers/promises";
import { epochOf, timestamp } from "../infra/clock.ts";
import { invalid, Problem } from "../problems.ts";
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

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** The option of a command that calls `confirm`. */
export const YES = ["--yes", "do not ask for confirmation"] as const;

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
