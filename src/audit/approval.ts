import { invalid } from "../problems.ts";

/** Maximum lifetime of what was approved. */
export const MAX_HOURS = 90 * 24;
const MAX_TEXT_LENGTH = 500;

/** An operator's approval as typed. */
export interface ApprovalRequest {
  readonly expiresInHours: number;
  readonly approvedBy: string;
  readonly reason: string;
}

/** Returns the approval as it is stored. @throws problem `validation_failed` */
export function checkedApproval({ expiresInHours, approvedBy, reason }: ApprovalRequest) {
  if (!(expiresInHours > 0 && expiresInHours <= MAX_HOURS))
    throw invalid("/expires_in_hours", `must be a number above 0 and at most ${MAX_HOURS}`);
  return {
    expires_in_hours: expiresInHours,
    approved_by: text("/approved_by", approvedBy),
    reason: text("/reason", reason),
  };
}

function text(pointer: string, value: string): string {
  const { length } = Array.from(value); // characters, not UTF-16 units
  if (value.trim() !== "" && length <= MAX_TEXT_LENGTH) return value;
  throw invalid(pointer, `must have 1 to ${MAX_TEXT_LENGTH} characters and must not be blank`);
}
