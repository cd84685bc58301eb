import type { Step } from "./exchange.ts";

/** Settings, limits, packs, and requests that fit no endpoint. */
export const OTHER_STEPS: readonly Step[] = [
  { title: "the assistant", request: "GET /settings/assistant" },
  {
    title: "another assistant",
    request: "PATCH /settings/assistant",
    json: { display_name: "Acme", reply_to: "hr@example.com", language: "pt-br", chase_interval_hours: 24 },
  },
  { title: "not changed", request: "GET /settings/assistant", headers: { "If-None-Match": "{etag}" } },
  {
    title: "a wrong assistant",
    request: "PATCH /settings/assistant",
    json: {
      enabled: "maybe",
      language: "klingonese!",
      channels: ["email", "email", "fax"],
      chase_interval_hours: 0,
      reply_to: "x",
      instructions: 5,
      tone: "kind",
    },
  },
  { title: "no channels", request: "PATCH /settings/assistant", json: { channels: [] } },
  { title: "the defaults again", request: "PATCH /settings/assistant", json: { language: null, display_name: null } },
  { title: "the quiet hours", request: "GET /settings/quiet-hours" },
  {
    title: "wrong quiet hours",
    request: "PATCH /settings/quiet-hours",
    json: { timezone: "Mars/Olympus", start: "25:00", end: "8", days: ["someday"], enabled: 3 },
  },
  {
    title: "another version",
    request: "PATCH /settings/quiet-hours",
    json: { enabled: true },
    headers: { "If-Match": '"other"' },
  },
  {
    title: "a candidate",
    request: "POST /candidates",
    json: { name: "Ada", documents: ["CV"] },
    keep: { candidate: "id" },
  },
  { title: "its pack", request: "GET /candidates/{candidate}/pack?format=json" },
  { title: "a pack in no form", request: "GET /candidates/{candidate}/pack?format=docx" },
  {
    title: "a pack that cannot be sent",
    request: "GET /candidates/{candidate}/pack",
    headers: { Accept: "image/png" },
  },
  { title: "a pack of nobody", request: "GET /candidates/cand_00000000000000000000000000/pack" },
  { title: "no key", request: "GET /candidates", headers: { Authorization: "" } },
  { title: "another scheme", request: "GET /candidates", headers: { Authorization: "Basic YTpi" } },
  { title: "a key of nobody", request: "GET /candidates", headers: { Authorization: "Bearer nobody" } },
  { title: "no such path", request: "GET /candidate" },
  { title: "a broken path", request: "GET /candidates/%ff" },
  { title: "a method that the path does not take", request: "PUT /candidates", json: {} },
  { title: "a method of another path", request: "POST /references/ref_1", json: {} },
  { title: "a slash at the end", request: "GET /candidates/" },
  { title: "an X-Request-Id that is none", request: "GET /settings/quiet-hours", headers: { "X-Request-Id": "a b" } },
  { title: "limits with a query", request: "GET /limits?surface=create" },
];
