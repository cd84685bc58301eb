import { serviceInfo } from "../infra/service-info.ts";
import type { AuditRecord } from "./entry.ts";

/** The class API Activity of OCSF 1.3.0, https://schema.ocsf.io/1.3.0/classes/api_activity */
const API_ACTIVITY = { category_uid: 6, class_uid: 6003, class_name: "API Activity" };
const ACTIVITIES = ["Create", "Read", "Update", "Delete"];
const STATUSES = { done: "Success", failed: "Failure" };

const { name, version } = serviceInfo();
const product = { name, version };

/** Returns an entry in the names of OCSF. What OCSF has no name for is in `unmapped`. */
export function ocsfOf(record: AuditRecord, loggedAt: number): object {
  const { _id, actor, action, account, subject, details, of, outcome, reason, at, seq, previous, hash } = record;
  const activity_id = activityOf(action);
  return {
    audit: true,
    time: Date.parse(at),
    ...API_ACTIVITY,
    activity_id,
    activity_name: ACTIVITIES[activity_id - 1],
    type_uid: API_ACTIVITY.class_uid * 100 + activity_id,
    severity_id: 1,
    severity: "Informational",
    status_id: outcome === null ? 0 : outcome === "done" ? 1 : 2,
    status: outcome === null ? "Unknown" : STATUSES[outcome],
    status_detail: reason ?? undefined,
    metadata: {
      version: "1.3.0",
      product,
      uid: _id,
      correlation_uid: of ?? _id, // the same for the begin and the end of a change
      sequence: seq ?? undefined,
      tenant_uid: account,
      logged_time: loggedAt,
    },
    actor: { user: { uid: actor } },
    api: { operation: action },
    resources: [{ uid: subject }],
    unmapped: { details, previous, hash },
  };
}

function activityOf(action: string): number {
  if (/\b(create|imported|import)$/.test(action)) return 1;
  if (/\b(read|export)$/.test(action)) return 2;
  return /\b(delete|erase)$/.test(action) ? 4 : 3;
}
