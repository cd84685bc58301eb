import { epochOf, timestamp } from "../infra/clock.ts";
import { invalid } from "../problems.ts";
import type { Chase, ChaseInput } from "./document-schema.ts";
import { NEVER_CHASED } from "./record.ts";

/**
 * Returns the reminders that another system has sent, as a record has them.
 * @param where `now`: RFC 3339. `at`: where the document or reference is in the body, a JSON Pointer.
 * @throws problem validation_failed
 */
export function newChase(given: ChaseInput | null | undefined, where: { now: string; at?: string | undefined }): Chase {
  if (!given) return NEVER_CHASED;
  const { attempts, last_at } = given;
  if (!last_at) return { attempts, last_at: null };
  const pointer = `${where.at ?? ""}/chase/last_at`;
  if (attempts === 0) throw invalid(pointer, "must be null or left out if attempts is 0");
  const moment = epochOf(last_at);
  if (moment >= 0 && moment <= Date.parse(where.now)) return { attempts, last_at: timestamp(moment) };
  throw invalid(pointer, `must be a time from 1970 to now, ${where.now}, or null if that is not known`);
}
