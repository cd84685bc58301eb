import type { GrantRecord } from "./store.ts";
import { isSurface, SURFACES } from "../limiter/surfaces.ts";
import { type ApprovalRequest, checkedApproval } from "../audit/approval.ts";
import { invalid, wholeNumber } from "../problems.ts";

/** A grant as the operator typed it. With an `id`, the command can be repeated safely. */
export interface GrantRequest extends ApprovalRequest {
  readonly keyId: string;
  readonly surface: string;
  readonly amount: number;
  readonly id?: string;
}

/** The terms of a grant. A repeated request must have the same terms. */
export type GrantTerms = Readonly<ReturnType<typeof checkedTerms>>;

const MAX_REQUESTS = 10_000_000;

/** Checks a request and returns its terms. @throws problem `validation_failed` */
export function checkedTerms(request: GrantRequest) {
  const { keyId, surface, amount, id } = request;
  if (!isSurface(surface)) throw invalid("/surface", `must be one of ${SURFACES.join(", ")}`);
  wholeNumber("/amount", amount, 1, MAX_REQUESTS);
  const approval = checkedApproval(request);
  if (id !== undefined && !/^grant_[\w-]{1,64}$/.test(id))
    throw invalid("/id", "must be grant_ followed by 1 to 64 letters, digits, hyphens or underscores");
  return { key: keyId, surface, amount, ...approval };
}

/** @throws problem `validation_failed` that lists the terms of the existing grant that the request would change. */
export function refuseOtherTerms(existing: GrantTerms & Pick<GrantRecord, "_id">, requested: GrantTerms): void {
  const names = Object.keys(requested) as (keyof GrantTerms)[];
  const differing = names.filter((name) => existing[name] !== requested[name]);
  if (differing.length === 0) return;
  const has = differing.map((name) => `${name} ${JSON.stringify(existing[name])}`).join(", ");
  throw invalid("/id", `is taken: the grant ${existing._id} has ${has}. Repeat its terms, or choose another id`);
}
