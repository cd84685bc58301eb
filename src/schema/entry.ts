import type { Fault } from "../problems.ts";

/** A valid value, and what was set aside to make it so. */
export interface Checked<Value> {
  readonly value: Value;
  /** Each fault that was set aside, with what became of the value. */
  readonly warnings: readonly Fault[];
}

/** One of several bodies in a request. It is parsed when it is read, so that few are in memory at once. */
export interface Entry<Value> {
  /** In bytes of JSON. */
  readonly size: number;
  /** @throws problems malformed_json, payload_too_large, validation_failed */
  read(): Checked<Value>;
}
