import type { Step } from "./exchange.ts";

const REFERENCE = "/references/{reference}";
const ADD = "POST /candidates/{candidate}/references";

/** Registers references, moves them through their states, and sends what is wrong with each. */
export const REFERENCE_STEPS: readonly Step[] = [
  { title: "a candidate", request: "POST /candidates", json: {}, keep: { candidate: "id" } },
  {
    title: "a reference",
    request: ADD,
    json: {
      name: "Jordan Reyes",
      email: "jordan@example.com",
      phone: "+1 415 555 0123",
      company: "Initech",
      job_title: "Head",
      relationship: "Line manager",
      metadata: { year: 2020 },
    },
    keep: { reference: "id" },
  },
  { title: "the least", request: ADD, json: {} },
  {
    title: "wrong fields",
    request: ADD,
    json: { name: 1.5e300, email: "@", phone: "no", company: [], state: "away", metadata: [], colour: "red" },
  },
  { title: "of no candidate", request: "POST /candidates/cand_00000000000000000000000000/references", json: {} },
  { title: "read", request: `GET ${REFERENCE}` },
  { title: "not changed", request: `GET ${REFERENCE}`, headers: { "If-None-Match": "{etag}" } },
  { title: "no such reference", request: "GET /references/ref_00000000000000000000000000" },
  { title: "asked", request: `PATCH ${REFERENCE}`, json: { state: "requested" } },
  {
    title: "answered",
    request: `PATCH ${REFERENCE}`,
    json: { state: "received", response: { rating: 5, again: "yes" } },
  },
  { title: "more of the answer", request: `PATCH ${REFERENCE}`, json: { response: { again: null, notes: "Fine" } } },
  { title: "an answer that is text", request: `PATCH ${REFERENCE}`, json: { response: "good" } },
  { title: "a step back", request: `PATCH ${REFERENCE}`, json: { state: "not_requested" } },
  { title: "a state that nobody knows", request: `PATCH ${REFERENCE}`, json: { state: "done" } },
  { title: "declined", request: `PATCH ${REFERENCE}`, json: { state: "declined" } },
  { title: "another version", request: `PATCH ${REFERENCE}`, json: { name: "A" }, headers: { "If-Match": '"other"' } },
  { title: "what is needed", request: "PATCH /candidates/{candidate}", json: { references_required: 2 } },
  {
    title: "wrong needs",
    request: "PATCH /candidates/{candidate}",
    json: { references_required: -1, reference_requirements: {} },
  },
  { title: "removed", request: `DELETE ${REFERENCE}` },
  { title: "removed again", request: `DELETE ${REFERENCE}` },
  { title: "the candidate", request: "GET /candidates/{candidate}" },
];
