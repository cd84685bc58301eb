import { randomBytes } from "node:crypto";
import { makeKey } from "../../src/accounts/key.ts";
import type { Step } from "./exchange.ts";
import { FORM, form, type Part } from "./form.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
const CREATE = "POST /candidates";
const ATTACH = "POST /candidates/{candidate}/documents";

/** A form in Latin-1: each character is one byte, so the form can hold bytes that are not UTF-8. */
function bytes(...parts: readonly Part[]): Pick<Step, "body" | "headers"> {
  return { body: Buffer.from(form(...parts), "latin1"), headers: FORM };
}

/** Returns an object with this number of members. Their names and values are short. */
function members(count: number, prefix = ""): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`${prefix}${n}`, "x"]));
}

/** Members of answers that only the service sets. */
const OF_CANDIDATES = asRead(
  "object",
  "state_reason",
  "waiting_on",
  "version",
  "pack_version",
  "created_at",
  "updated_at",
);
const OF_PARTS = asRead("object", "id", "candidate_id", "chase", "created_at", "updated_at");
const OF_REFERENCES = { ...OF_PARTS, ...asRead("requested_at", "received_at") };

/** Returns an object with these members. Their values do not matter. */
function asRead(...names: readonly string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]));
}

/** Problems that are rarer than those of the other conversations. */
export const PROBLEM_STEPS: readonly Step[] = [
  {
    title: "a candidate",
    request: CREATE,
    json: { documents: ["CV"], references: [{}], metadata: members(50) },
    keep: { candidate: "id", document: "documents.0.id", reference: "references.0.id" },
  },
  { title: "a long name in metadata", request: CREATE, json: { metadata: { ["n".repeat(101)]: "x" } } },
  {
    title: "a forbidden name in metadata",
    request: CREATE,
    body: '{"metadata":{"__proto__":"x"}}',
    headers: JSON_TYPE,
  },
  { title: "a number that loses digits", request: CREATE, body: '{"metadata":{"n":1e400}}', headers: JSON_TYPE },
  { title: "a large number", request: CREATE, body: '{"metadata":{"n":12345678901234567890}}', headers: JSON_TYPE },
  { title: "much metadata", request: CREATE, json: { metadata: members(51) } },
  { title: "more metadata", request: "PATCH /candidates/{candidate}", json: { metadata: members(2, "more ") } },
  { title: "many documents", request: CREATE, json: { documents: Array.from({ length: 201 }, () => "CV") } },
  { title: "a long name", request: CREATE, json: { name: "n".repeat(201) } },
  {
    title: "JSON that breaks in a later line",
    request: CREATE,
    body: '{\n  "name": "Ada",\n  x\n}',
    headers: JSON_TYPE,
  },
  { title: "its own id", request: CREATE, json: { id: "cand_1", state: "created", withdrawn: true, started_at: null } },
  {
    title: "a new candidate, as another one was read",
    request: CREATE,
    json: { ...OF_CANDIDATES, withdrawal_reason: null, documents: [OF_PARTS], references: [OF_REFERENCES] },
  },
  {
    title: "a candidate as it was read",
    request: "PATCH /candidates/{candidate}",
    json: { ...OF_CANDIDATES, id: "cand_1", state: "created", reference_chase_attempts: 1 },
  },
  { title: "a new document, as another one was read", request: ATTACH, json: OF_PARTS },
  {
    title: "a document as it was read",
    request: "PATCH /candidates/{candidate}/documents/{document}",
    json: { ...OF_PARTS, content: null },
  },
  {
    title: "a new reference, as another one was read",
    request: "POST /candidates/{candidate}/references",
    json: OF_REFERENCES,
  },
  { title: "a reference as it was read", request: "PATCH /references/{reference}", json: OF_REFERENCES },
  {
    title: "what has an endpoint of its own",
    request: "PATCH /candidates/{candidate}",
    json: { documents: [], references: [], docs_chase_attempts: 1, started_at: null, reference_requirements: {} },
  },
  {
    title: "what is only read in settings",
    request: "PATCH /settings/quiet-hours",
    json: { object: "quiet_hours", version: 1, updated_at: null, effective: {} },
  },
  { title: "the same day twice", request: "PATCH /settings/quiet-hours", json: { days: ["mon", "mon"] } },
  { title: "no days", request: "PATCH /settings/quiet-hours", json: { days: [] } },
  {
    title: "an answer of too many bytes",
    request: "PATCH /references/{reference}",
    json: { response: { text: "x".repeat(17_000) } },
  },
  {
    title: "an answer of too many members",
    request: "PATCH /references/{reference}",
    json: { response: members(1_001) },
  },
  { title: "a part without a name", request: ATTACH, ...bytes(["", "CV"]) },
  { title: "a field that is no UTF-8", request: ATTACH, ...bytes(['name="name"', "\xff"]) },
  {
    title: "a file in another part",
    request: ATTACH,
    ...bytes(['name="name"', "CV"], ['name="scan"; filename="cv.txt"', "text"]),
  },
  {
    title: "a filename that is no UTF-8",
    request: ATTACH,
    ...bytes(['name="name"', "CV"], ['name="content"; filename="\xff.txt"', "text"]),
  },
  {
    title: "a long filename",
    request: ATTACH,
    ...bytes(['name="name"', "CV"], [`name="content"; filename="${"n".repeat(501)}.txt"`, "text"]),
  },
  {
    title: "many parts",
    request: ATTACH,
    ...bytes(...Array.from({ length: 33 }, (_, n) => [`name="f${n}"`, "x"] as const)),
  },
  { title: "a start", request: "POST /candidates/{candidate}/start" },
  {
    title: "pending after the start",
    request: "PATCH /candidates/{candidate}/documents/{document}",
    json: { state: "pending" },
  },
  {
    title: "not requested after the start",
    request: "PATCH /references/{reference}",
    json: { state: "not_requested" },
  },
  {
    title: "accepted, and expired",
    request: "PATCH /candidates/{candidate}/documents/{document}",
    json: { state: "accepted", expires_on: "2020-01-31" },
  },
  {
    title: "a key of nobody",
    request: "GET /candidates",
    headers: { Authorization: `Bearer ${makeKey(randomBytes)}` },
  },
  { title: "two keys", request: "GET /candidates", headers: { "X-API-Key": makeKey(randomBytes) } },
];
