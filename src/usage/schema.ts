import Type, { type Static } from "typebox";
import { SURFACES } from "../limiter/surfaces.ts";
import { about, component, oneOf } from "../schema/fields.ts";
import { Count, Timestamp } from "../schema/values.ts";

export const UsageRow = component("UsageRow", "What a key used of a surface in an hour, and what it was refused.", {
  hour: about(Timestamp, "When the hour begins.", "2026-08-17T09:00:00.000Z"),
  surface: about(oneOf(SURFACES), "The surface: a group of operations that share a limit.", "list"),
  key_id: about(Type.String(), "The id of the key.", "key_01k9z3v4w6c4n7r0t2v5x8z1b3"),
  used: about(Count, "How many requests were admitted, those on a grant included.", 96),
  refused: about(Count, "How many requests got 429.", 4),
});
export type UsageRow = Static<typeof UsageRow>;

export const UsageReport = component("UsageReport", "What an account used and was refused, hour by hour.", {
  object: about(oneOf(["usage"]), "The type of the object.", "usage"),
  account_id: about(Type.String(), "The id of the account.", "acct_01k9z3v4k7d5p8s1v3x6z9a2c4"),
  from: about(Timestamp, "When the first hour begins.", "2026-08-16T09:00:00.000Z"),
  to: about(Timestamp, "When the last hour began. It goes on.", "2026-08-17T09:00:00.000Z"),
  data: about(Type.Array(UsageRow), "The hours, surfaces and keys with requests, the oldest hour first."),
});
export type UsageReport = Static<typeof UsageReport>;
