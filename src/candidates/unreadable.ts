import type { Tombstone } from "./erasure.ts";

/** Says that the record of a candidate has not the form that this version knows. */
export class UnreadableRecord extends Error {
  /** What an erasure needs of it. */
  readonly salvaged: Tombstone;

  /** @param reason what is wrong, without values of the record. */
  constructor(salvaged: Tombstone, reason: string) {
    super(`The record of ${salvaged.id} cannot be read: ${reason}`);
    this.name = "UnreadableRecord";
    this.salvaged = salvaged;
  }
}
