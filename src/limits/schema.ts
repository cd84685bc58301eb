import Type, { type Static } from "typebox";
import { oneOf, strict, Timestamp, titled } from "../schema/fields.ts";
import { SURFACES } from "../limiter/surfaces.ts";

const Count = Type.Integer({ minimum: 0 });

const QuotaView = titled("Quota", strict({ limit: Count, used: Count, remaining: Count }));

const SurfaceName = oneOf(SURFACES);

const SurfaceLimits = titled(
  "SurfaceLimits",
  strict({
    surface: SurfaceName,
    account: QuotaView,
    key: QuotaView,
    reset: Type.Integer({ minimum: 1, description: "whole seconds until both windows restart" }),
    reset_at: Timestamp,
  }),
);
export type SurfaceLimits = Static<typeof SurfaceLimits>;

const LiveGrant = titled(
  "LiveGrant",
  strict({
    object: oneOf(["grant"]),
    id: Type.String(),
    surface: SurfaceName,
    amount: Count,
    remaining: Count,
    expires_at: Timestamp,
  }),
);
export type LiveGrant = Static<typeof LiveGrant>;

export const Limits = titled(
  "Limits",
  strict({
    object: oneOf(["limits"]),
    account_id: Type.String(),
    key_id: Type.String(),
    window_seconds: Type.Integer({ minimum: 1 }),
    surfaces: Type.Array(SurfaceLimits),
    grants: Type.Array(LiveGrant),
  }),
);
export type Limits = Static<typeof Limits>;
