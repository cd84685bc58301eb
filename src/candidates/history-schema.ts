import Type, { type Static } from "typebox";
import { about, component, nullable, omittable, oneOf, strict } from "../schema/fields.ts";
import { DOCUMENT_ID } from "../schema/example-ids.ts";
import { Timestamp } from "../schema/values.ts";
import { words } from "../schema/words.ts";

export const MAX_HISTORY_PAGE = 100;

export const HISTORY_ACTIONS = words(
  "created updated started withdrawn reinstated state_changed content_stored content_removed added removed reminder_sent hold_set hold_lifted",
);
export type HistoryAction = (typeof HISTORY_ACTIONS)[number];

export const By = component("By", "Who made a change.", {
  type: about(
    oneOf(["key", "candidate", "referee", "service", "operator"]),
    "Who it was. key: a client, with an API key. candidate, referee: that person, on a page of the service. service: the service by itself. operator: whoever runs the service.",
    "key",
  ),
  id: about(
    Type.String(),
    "The id of the key, candidate or reference; of the service the name of its work: reminders, replans, opt_outs, expiries, retention; of an operator the name.",
    "key_01k9z3v4q6f2r8t1w5y9b3d7h2",
  ),
});
export type By = Static<typeof By>;

export const Decided = component("Decided", "Who brought a document or reference into its present state, and when.", {
  state: about(Type.String(), "The state.", "accepted"),
  at: about(Timestamp, "When it was moved to that state.", "2026-08-19T14:05:37.206Z"),
  by: about(By, "Who moved it."),
  decided_by: about(nullable(Type.String()), "Who decided on the client's side, as the client says.", "Noor Haddad"),
});
export type Decided = Static<typeof Decided>;

export const DECIDED =
  "Who brought it into its present state. Null while nothing is decided (pending, not_requested, requested), and if the state is from before this was noted.";

const StateOrCap = Type.Unsafe<string | number | null>({ type: ["string", "integer", "null"] });

export const HistoryEntry = component("HistoryEntry", "One thing that changed.", {
  at: about(Timestamp, "When it changed.", "2026-08-19T14:05:37.206Z"),
  by: about(By, "Who changed it."),
  action: about(
    oneOf(HISTORY_ACTIONS),
    "What happened. created, started, withdrawn, reinstated, hold_set, hold_lifted: to the candidate. added, removed, content_stored, content_removed: to a document or reference. updated: other fields changed. state_changed: the state did. reminder_sent: a message was made for the subject; GET /candidates/{id}/outreach says what became of it.",
    "state_changed",
  ),
  subject: about(Type.String(), "The id of the candidate, document or reference that it happened to.", DOCUMENT_ID),
  from: about(StateOrCap, "The state before, or the cap before. Null if neither changed.", "received"),
  to: about(StateOrCap, "The state after, or the cap after. Null if neither changed.", "accepted"),
  fields: about(Type.Array(Type.String()), "The names of the fields that changed. Never their values.", ["expires_on"]),
});
export type HistoryEntry = Static<typeof HistoryEntry>;

export const History = component("History", "What changed of a candidate, the newest first.", {
  object: about(oneOf(["list"]), "The type of the object.", "list"),
  data: about(Type.Array(HistoryEntry), "The entries."),
  has_more: about(Type.Boolean(), "Whether there are older entries.", false),
  cursor: about(nullable(Type.String()), "For the next page: send it as cursor. Null if there is none.", "118"),
});
export type History = Static<typeof History>;

export const HistoryQuery = strict({
  limit: about(
    Type.Integer({ minimum: 1, maximum: MAX_HISTORY_PAGE, default: 50 }),
    `Maximum entries of the page, 1 to ${MAX_HISTORY_PAGE}.`,
    100,
  ),
  cursor: omittable(
    Type.String({ pattern: "^([1-9][0-9]{0,8})?$", "x-must-be": "the cursor of an earlier page" }),
    "The cursor of an earlier page: the entries before it. Without one, the newest.",
    "118",
  ),
});
export type HistoryQuery = Static<typeof HistoryQuery>;
