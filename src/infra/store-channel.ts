import { tracingChannel } from "node:diagnostics_channel";
import type { DbSystem } from "./metrics.ts";

/** The channel on which each operation of the store is published, for tracing (diagnostics_channel). */
export const STORE_CHANNEL = "onboarding:store";

export interface OperationContext {
  readonly system: DbSystem;
  readonly command: string;
  readonly collection?: string | undefined;
}

const channel = tracingChannel<unknown, OperationContext>(STORE_CHANNEL);

/** Runs an operation, and publishes it if anyone listens. Costs nothing otherwise. */
export function published<T>(operation: OperationContext, run: () => Promise<T>): Promise<T> {
  return channel.hasSubscribers ? channel.tracePromise(run, operation) : run();
}
