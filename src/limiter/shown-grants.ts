import { LRUCache } from "lru-cache";
import type { ChargeRequest } from "./decision.ts";
import type { ChargeAnswer, LiveGrants } from "./scripts.ts";

const MAX_REMEMBERED = 10_000;

/**
 * Remembers which keys have no grants for a surface, so that their charges need not read the grants only to show them. The
 * issue of a grant raises the account's version, so what was remembered for an earlier one no longer counts.
 */
export class ShownGrants {
  /** Keys are a key and a surface; values are the version of the account at which there were no grants. */
  readonly #none = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  /** Returns true if the key may have a grant that the response must show. A claim without a version always may. */
  mayHave({ keyId, surface, accountVersion }: ChargeRequest): boolean {
    return accountVersion === undefined || this.#none.get(nameOf(keyId, surface)) !== accountVersion;
  }

  /** Takes in the verdict on a charge, and the key's live grants at that time. */
  answered(
    { keyId, surface, accountVersion }: ChargeRequest,
    { verdict, grantAmount }: LiveGrants & Pick<ChargeAnswer, "verdict">,
  ): void {
    if (accountVersion === undefined || verdict === "outdated" || verdict === "stale" || grantAmount >= 0) return;
    this.#none.set(nameOf(keyId, surface), accountVersion);
  }
}

function nameOf(keyId: string, surface: string): string {
  return `${surface}:${keyId}`;
}
