import { serviceInfo } from "../infra/service-info.ts";
import type { AuditRecord } from "./entry.ts";

/** The class API Activity of OCSF 1.3.0: https://schema.ocsf.io/1.3.0/classes/api_activity. Its severity is Informational. */
const API_ACTIVITY = { category_uid: 6, class_uid: 6003, severity_id: 1 };
const ACTIVITIES = ["Create", "Read", "Update", "Delete"];
const STATUSES = { done: { status_id: 1, status: "Success" }, failed: { status_id: 2, status: "Failure" } };

const { name, version } = serviceInfo();
const PRODUCT = { version: "1.3.0", product: { name, version } };

/** Returns an entry in the names of OCSF. What OCSF has no name for is in `unmapped`. */
export function ocsfOf(record: AuditRecord, logged_time: number): object {
  const { _id: uid, actor, action, account: tenant_uid, subject, details, of, outcome, reason, at, ...chain } = record;
  const { seq: sequence, previous, hash } = chain;
  const activity_id = activityOf(action);
  const correlation_uid = of ?? uid; // the same for the begin and the end of a change
  return {
    audit: true,
    time: Date.parse(at),
    ...API_ACTIVITY,
    activity_id,
    activity_name: ACTIVITIES[activity_id - 1],
    type_uid: API_ACTIVITY.class_uid * 100 + activity_id,
    ...(outcome === null ? { status_id: 0, status: "Unknown" } : STATUSES[outcome]),
    ...(reason !== null && { status_detail: reason }),
    metadata: { ...PRODUCT, uid, correlation_uid, sequence, tenant_uid, logged_time },
    actor: { user: { uid: actor } },
    api: { operation: action },
    resources: [{ uid: subject }],
    unmapped: { details, previous, hash },
  };
}

function activityOf(action: string): number {
  if (/\b(create|import(ed)?)$/.test(action)) return 1;
  if (/\b(read|export)$/.test(action)) return 2;
  return /\b(delete|erased?)$/.test(action) ? 4 : 3;
}
