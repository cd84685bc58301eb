import type { Mutant } from "../mutant.ts";
import { accountsEqual } from "./equal/accounts.ts";
import { apiEqual } from "./equal/api.ts";
import { candidatesEqual } from "./equal/candidates.ts";
import { grantsEqual } from "./equal/grants.ts";
import { httpEqual } from "./equal/http.ts";
import { idempotencyEqual } from "./equal/idempotency.ts";
import { infraEqual } from "./equal/infra.ts";

/** Changes made by chance that no test noticed, and that no client can notice either. */
export const equalMutants: readonly Mutant[] = [
  ...accountsEqual,
  ...apiEqual,
  ...candidatesEqual,
  ...grantsEqual,
  ...httpEqual,
  ...idempotencyEqual,
  ...infraEqual,
];
