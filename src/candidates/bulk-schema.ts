import Type, { type Static, type TSchema } from "typebox";
import type { Entry } from "../schema/entry.ts";
import { about, component, omittable, oneOf, optional, strict, titled } from "../schema/fields.ts";
import { Count } from "../schema/values.ts";
import {
  CandidateInput,
  CandidatePatch,
  importQuery,
  outreachFields,
  PARTS_ELSEWHERE,
  READ_ONLY,
} from "./input-schema.ts";
import { ID, TEXT, Warning } from "./schema.ts";

/** Maximum number of candidates in one request. */
const MAX_ENTRIES = 100;

const count = {
  count: about(
    Type.Integer({ minimum: 1, maximum: MAX_ENTRIES }),
    "How many candidates the body has, 1 to 100. The request counts as that many: they are charged before the body is read, all of them or none.",
    2,
  ),
};
export const BulkCreateQuery = strict({ ...count, ...importQuery });
export const BulkUpdateQuery = strict(count);

const ELSEWHERE = Object.fromEntries(Object.entries(READ_ONLY).filter(([name]) => name !== "id"));

export const BulkPatch = component(
  "BulkPatch",
  "Changes one candidate (JSON Merge Patch, RFC 7396). It takes the fields of PATCH /candidates/{id} and of PATCH /candidates/{id}/outreach. The candidate is named by id, or by external_id if there is no id.",
  { id: omittable(Type.String(), ...ID), ...CandidatePatch.properties, ...outreachFields },
  { ...ELSEWHERE, ...PARTS_ELSEWHERE },
);
export type BulkPatch = Static<typeof BulkPatch>;

function listOf<Schema extends TSchema>(title: string, description: string, entry: Schema) {
  const text = `The candidates, up to ${MAX_ENTRIES}. As NDJSON, one in each line.`;
  const list = strict({ candidates: about(Type.Array(entry), text) });
  return titled(title, description, Type.Unsafe<readonly Entry<Static<Schema>>[]>(list));
}
export const BulkCreateInput = listOf("BulkCreateInput", "Several candidates to create.", CandidateInput);
export const BulkUpdateInput = listOf("BulkUpdateInput", "Changes of several candidates.", BulkPatch);

const BulkResult = component("BulkResult", "What became of one candidate of the request.", {
  index: about(Count, "Its place in the request, from 0.", 0),
  status: about(Type.Integer(), "The status that a request of its own would have.", 201),
  id: omittable(Type.String(), ...ID),
  external_id: optional(Type.String(), ...TEXT.external_id),
  version: omittable(Type.Integer({ minimum: 1 }), "Its version by now.", 1),
  warnings: omittable(Type.Array(Warning), "With unreadable=metadata: what was not readable."),
  problem: omittable(
    Type.Unsafe<Record<string, unknown>>({ type: "object", additionalProperties: true }),
    "Why it was refused: the problem document that a request of its own would get (RFC 9457).",
    { code: "validation_failed", errors: [{ pointer: "/email", detail: "must be one email address" }] },
  ),
});
export type BulkResult = Static<typeof BulkResult>;

export const Bulk = component("Bulk", "What became of the candidates of a request.", {
  object: about(oneOf(["bulk"]), "The type of the object.", "bulk"),
  created: about(Count, "How many were created.", 1),
  updated: about(Count, "How many were changed.", 1),
  unchanged: about(Count, "How many were there already as they were sent.", 0),
  failed: about(Count, "How many were refused.", 0),
  results: about(Type.Array(BulkResult), "What became of each, in the order of the request."),
});
export type Bulk = Static<typeof Bulk>;
