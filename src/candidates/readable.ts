import Type from "typebox";
import { publish } from "../api/publish.ts";
import { compile } from "../api/validate.ts";
import { nullable } from "../schema/fields.ts";
import { Timestamp } from "../schema/values.ts";
import { type Found, isTombstone } from "./erasure.ts";
import { Candidate } from "./schema.ts";
import { words } from "../schema/words.ts";

const Texts = Type.Array(Type.String());
const Removed = Type.Object({ id: Type.String(), at: Timestamp });
const Recipient = Type.Object({
  to: Type.String(),
  last: nullable(Type.Object({ message_id: Type.String(), at: Timestamp, documents: Texts, tries: Type.Integer() })),
  bounced: nullable(Type.String()),
});

/** What code relies on of a record. It allows what the contract's responses allow, and members that it does not know. */
const Readable = Type.Object({
  ...Candidate.properties,
  accountId: Type.String(),
  removed: Type.Array(Removed),
  erasure: nullable(Type.Object({ at: Timestamp, deletions: Type.Array(Removed), files: Texts, references: Texts })),
  outreach: Type.Object({
    ...Candidate.properties.outreach.properties,
    look_at: nullable(Timestamp),
    rules: nullable(Type.String()),
    recipients: Type.Array(Recipient),
    opted_out: Texts,
    resumed_at: Type.Optional(Timestamp),
  }),
  retention: Type.Optional(Type.Object({ since: Timestamp, active_at: Timestamp, erases_at: nullable(Timestamp) })),
});

/** Members of responses that no record has. */
const DERIVED = new Set<string>(
  words("object candidate_id etag decided erases_at state_reason waiting_on reference_requirements"),
);

const components: Record<string, Record<string, unknown>> = {};
const published = { ...publish(Readable, "response", components), components: { schemas: components } };
const faultsIn = compile(
  JSON.parse(JSON.stringify(published), (name, value: unknown) =>
    name === "required" && Array.isArray(value) ? value.filter((each: string) => !DERIVED.has(each)) : value,
  ),
  "json",
);

/** Returns what is wrong with a candidate, without its values; undefined if everything that works with it can. */
export function faultOf(found: Found): string | undefined {
  const { version, updated_at } = found;
  if (isTombstone(found)) return Number.isInteger(version) && typeof updated_at === "string" ? undefined : "tombstone";
  const [fault] = faultsIn(found);
  // The names of metadata and of answers are the client's.
  return fault && `${fault.pointer.replace(/\/(metadata|response)\/.*/, "/$1")} ${fault.detail}`;
}
