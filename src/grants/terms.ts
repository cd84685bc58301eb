import type { GrantRecord } from "./store.ts";
import { isSurface, SURFACES } from "../limiter/surfaces.ts";
import { invalid } from "../problems.ts";

/** A grant as the operator typed it. With an `id`, the command can be repeated safely. */
export interface GrantRequest {
  readonly keyId: string;
  readonly surface: string;
  readonly amount: number;
  readonly expiresInHours: number;
  readonly approvedBy: string;
  readonly reason: string;
  readonly id?: string;
}

/** The terms of a grant. A repeated request must have the same terms. */
export type GrantTerms = Pick<
  GrantRecord,
  "key" | "surface" | "amount" | "expires_in_hours" | "approved_by" | "reason"
>;

const MAX_REQUESTS = 10_000_000;
const MAX_HOURS = 90 * 24;
const MAX_TEXT_LENGTH = 500;

/** Checks a request and returns its terms. @throws problem `validation_failed` */
export function checkedTerms(request: GrantRequest): GrantTerms {
  const { keyId, surface, amount, expiresInHours, approvedBy, reason, id } = request;
  if (!isSurface(surface)) throw invalid("/surface", `must be one of ${SURFACES.join(", ")}`);
  if (!Number.isInteger(amount) || amount < 1 || amount > MAX_REQUESTS)
    throw invalid("/amount", `must be a whole number from 1 to ${MAX_REQUESTS}`);
  if (!(expiresInHours > 0 && expiresInHours <= MAX_HOURS))
    throw invalid("/expires_in_hours", `must be a number above 0 and at most ${MAX_HOURS}`);
  if (id !== undefined && !/^grant_[\w-]{1,64}$/.test(id))
    throw invalid("/id", "must be grant_ followed by 1 to 64 letters, digits, hyphens or underscores");
  return {
    key: keyId,
    surface,
    amount,
    expires_in_hours: expiresInHours,
    approved_by: text("/approved_by", approvedBy),
    reason: text("/reason", reason),
  };
}

/** @throws problem `validation_failed` that lists the terms of the existing grant that the request would change. */
export function refuseOtherTerms(existing: GrantTerms & Pick<GrantRecord, "_id">, requested: GrantTerms): void {
  const names = Object.keys(requested) as (keyof GrantTerms)[];
  const differing = names
    .filter((name) => existing[name] !== requested[name])
    .map((name) => `${name} ${JSON.stringify(existing[name])}`);
  if (differing.length > 0)
    throw invalid(
      "/id",
      `is taken: the grant ${existing._id} has ${differing.join(", ")}. Repeat its terms, or choose another id`,
    );
}

function text(pointer: string, value: string): string {
  const { length } = Array.from(value); // characters, not UTF-16 units
  if (value.trim() !== "" && length <= MAX_TEXT_LENGTH) return value;
  throw invalid(pointer, `must have 1 to ${MAX_TEXT_LENGTH} characters and must not be blank`);
}
