import { invalid } from "../accounts/checks.ts";
import type { GrantRecord } from "./store.ts";
import { mayDrawGrants, SURFACES } from "../limiter/surfaces.ts";

/** What an operator asks for, as it was typed; `id` makes repeating it safe. */
export interface GrantRequest {
  readonly keyId: string;
  readonly surface: string;
  readonly amount: number;
  readonly expiresInHours: number;
  readonly approvedBy: string;
  readonly reason: string;
  readonly id?: string;
}

/** The terms of a grant: what a repeated request must not change. */
export type GrantTerms = Pick<
  GrantRecord,
  "key" | "surface" | "amount" | "expires_in_hours" | "approved_by" | "reason"
>;

const MAX_REQUESTS = 10_000_000;
const LONGEST_HOURS = 90 * 24;
const LONGEST_TEXT = 500;

/** The terms, checked. @throws problem `validation_failed` */
export function checkedTerms({
  keyId,
  surface,
  amount,
  expiresInHours,
  approvedBy,
  reason,
  id,
}: GrantRequest): GrantTerms {
  if (surface !== "create")
    throw invalid("/surface", `must be ${SURFACES.filter(mayDrawGrants).join(" or ")}: no other draws on grants`);
  if (!Number.isInteger(amount) || amount < 1 || amount > MAX_REQUESTS)
    throw invalid("/amount", `must be a whole number from 1 to ${MAX_REQUESTS}`);
  if (!(expiresInHours > 0 && expiresInHours <= LONGEST_HOURS))
    throw invalid("/expires_in_hours", `must be a number above 0, up to ${LONGEST_HOURS}`);
  if (id !== undefined && !/^grant_[\w-]{1,64}$/.test(id))
    throw invalid("/id", "must be grant_ and 1 to 64 letters, digits, - or _");
  return {
    key: keyId,
    surface,
    amount,
    expires_in_hours: expiresInHours,
    approved_by: text("/approved_by", approvedBy),
    reason: text("/reason", reason),
  };
}

/** @throws problem `validation_failed` naming every term that is another than before. */
export function sameTerms(before: GrantTerms & Pick<GrantRecord, "_id">, asked: GrantTerms): void {
  const names = Object.keys(asked) as (keyof GrantTerms)[];
  const others = names
    .filter((name) => before[name] !== asked[name])
    .map((name) => `${name} ${JSON.stringify(before[name])}`);
  if (others.length > 0)
    throw invalid(
      "/id",
      `is taken: the grant ${before._id} was made with ${others.join(", ")}. Give the same terms, or another id`,
    );
}

function text(pointer: string, value: string): string {
  const { length } = Array.from(value); // characters, not UTF-16 units
  if (value.trim() !== "" && length <= LONGEST_TEXT) return value;
  throw invalid(pointer, `must have 1 to ${LONGEST_TEXT} characters`);
}
