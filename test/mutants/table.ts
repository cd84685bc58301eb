import type { Mutant } from "./mutant.ts";
import { accountMutants } from "./table/accounts.ts";
import { apiMutants } from "./table/api.ts";
import { authenticationMutants } from "./table/authentication.ts";
import { cachedKeyMutants } from "./table/cached-keys.ts";
import { bodyMutants } from "./table/bodies.ts";
import { equalMutants } from "./table/by-chance.ts";
import { candidateReadMutants } from "./table/candidate-reads.ts";
import { candidateWriteMutants } from "./table/candidate-writes.ts";
import { clientMutants } from "./table/client.ts";
import { configMutants } from "./table/config.ts";
import { contentMutants } from "./table/content.ts";
import { documentMutants } from "./table/documents.ts";
import { editMutants } from "./table/edits.ts";
import { erasureMutants } from "./table/erasure.ts";
import { feedMutants } from "./table/feed.ts";
import { grantMutants } from "./table/grants.ts";
import { httpMutants } from "./table/http.ts";
import { idempotencyMutants } from "./table/idempotency.ts";
import { idempotencyRecordMutants } from "./table/idempotency-records.ts";
import { lastUsedMutants } from "./table/last-used.ts";
import { limiterMutants } from "./table/limiter.ts";
import { limiterCallMutants } from "./table/limiter-calls.ts";
import { limiterKeyMutants } from "./table/limiter-keys.ts";
import { scriptMutants } from "./table/lua.ts";
import { chargeMutants } from "./table/lua-charge.ts";
import { chargeGrantMutants } from "./table/lua-charge-grants.ts";
import { versionMutants } from "./table/lua-versions.ts";
import { openWriteMutants } from "./table/open-writes.ts";
import { outreachMutants } from "./table/outreach.ts";
import { packAndAuditMutants } from "./table/pack-and-audit.ts";
import { referenceMutants } from "./table/references.ts";
import { refusalCacheMutants } from "./table/refusal-cache.ts";
import { schemaMutants } from "./table/schema.ts";
import { settingsMutants } from "./table/settings.ts";
import { stateMutants } from "./table/states.ts";
import { sweepMutants } from "./table/sweeps.ts";
import { uploadMutants } from "./table/uploads.ts";

/** Every row of the table of mutants. */
export const TABLE: readonly Mutant[] = [
  ...outreachMutants,
  ...chargeMutants,
  ...chargeGrantMutants,
  ...scriptMutants,
  ...versionMutants,
  ...limiterMutants,
  ...limiterCallMutants,
  ...limiterKeyMutants,
  ...refusalCacheMutants,
  ...grantMutants,
  ...accountMutants,
  ...authenticationMutants,
  ...cachedKeyMutants,
  ...lastUsedMutants,
  ...idempotencyMutants,
  ...idempotencyRecordMutants,
  ...apiMutants,
  ...httpMutants,
  ...bodyMutants,
  ...uploadMutants,
  ...configMutants,
  ...candidateReadMutants,
  ...candidateWriteMutants,
  ...clientMutants,
  ...contentMutants,
  ...documentMutants,
  ...editMutants,
  ...erasureMutants,
  ...feedMutants,
  ...openWriteMutants,
  ...packAndAuditMutants,
  ...referenceMutants,
  ...schemaMutants,
  ...settingsMutants,
  ...stateMutants,
  ...sweepMutants,
  ...equalMutants,
];
