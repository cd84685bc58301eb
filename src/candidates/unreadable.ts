import type { Tombstone } from "./erasure.ts";

/** Says that the record of a candidate has not the form that this version knows. */
export class UnreadableRecord extends Error {
  /** What an erasure needs of it. */
  readonly salvaged: Tombstone;
  /** What is wrong, without values of the record. */
  readonly reason: string;

  /** @param fault an error, or what is wrong. */
  constructor(salvaged: Tombstone, fault: unknown) {
    // JSON.parse repeats the text that it refuses.
    const reason = fault instanceof SyntaxError ? fault.name : fault instanceof Error ? fault.message : String(fault);
    super(`The record of ${salvaged.id} cannot be read: ${reason}`);
    this.name = "UnreadableRecord";
    this.salvaged = salvaged;
    this.reason = reason;
  }
}
