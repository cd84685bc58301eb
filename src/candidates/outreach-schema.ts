import Type, { type Static } from "typebox";
import { ChaseAttempts } from "./schema.ts";
import { nullable, strict, titled } from "../schema/fields.ts";

/** How often each is chased at the most. JSON Merge Patch: null goes back to the default, absent leaves. */
export const OutreachPatch = titled("OutreachPatch", strict({
  docs_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
  reference_chase_attempts: Type.Optional(nullable(ChaseAttempts)),
}));
export type OutreachPatch = Static<typeof OutreachPatch>;
