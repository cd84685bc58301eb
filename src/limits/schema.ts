import Type, { type Static } from "typebox";
import { about, component, oneOf } from "../schema/fields.ts";
import { Count, Timestamp } from "../schema/values.ts";
import { SURFACES } from "../limiter/surfaces.ts";

const Quota = component("Quota", "A limit and what is used of it, in requests of the current window.", {
  limit: about(Count, "How many requests the window allows.", 200),
  used: about(Count, "How many requests were counted in the window.", 10),
  remaining: about(Count, "How many requests are left in the window.", 190),
});

const SurfaceName = oneOf(SURFACES);

const SurfaceLimits = component(
  "SurfaceLimits",
  "The two limits of a surface. A request must be within both: the account's is checked first, then the key's.",
  {
    surface: about(SurfaceName, "The surface: a group of operations that share a limit.", "create"),
    account: about(Quota, "The limit that all keys of the account share."),
    key: about(Quota, "The limit of this key."),
    reset: about(Type.Integer({ minimum: 1 }), "Whole seconds until both windows restart, rounded up.", 812),
    reset_at: about(Timestamp, "When both windows restart.", "2026-08-17T10:00:00.000Z"),
  },
);
export type SurfaceLimits = Static<typeof SurfaceLimits>;

const LiveGrant = component(
  "LiveGrant",
  "Extra requests that an operator has granted to the key. They are used while a window is used up.",
  {
    object: about(oneOf(["grant"]), "The type of the object.", "grant"),
    id: about(Type.String(), "The id of the grant.", "grant_01k9z3v8q3h9t4a7e0c3v6k8m2"),
    surface: about(SurfaceName, "The surface that the grant is for.", "create"),
    amount: about(Count, "How many requests were granted.", 5000),
    remaining: about(Count, "How many of them are left.", 4200),
    expires_at: about(Timestamp, "When what is left expires.", "2026-08-18T09:30:00.000Z"),
  },
);
export type LiveGrant = Static<typeof LiveGrant>;

export const Limits = component("Limits", "Every limit of an account and one of its keys.", {
  object: about(oneOf(["limits"]), "The type of the object.", "limits"),
  account_id: about(Type.String(), "The id of the account.", "acct_01k9z3v4k7d5p8s1v3x6z9a2c4"),
  key_id: about(Type.String(), "The id of the key that asked.", "key_01k9z3v4w6c4n7r0t2v5x8z1b3"),
  window_seconds: about(Type.Integer({ minimum: 1 }), "The length of a window in seconds.", 3600),
  surfaces: about(Type.Array(SurfaceLimits), "Every surface."),
  grants: about(Type.Array(LiveGrant), "The key's live grants."),
});
export type Limits = Static<typeof Limits>;
