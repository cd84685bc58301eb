import type { Pack } from "../../src/pack/schema.ts";
import { type Sheet, sheetOf } from "../../src/pack/sheet.ts";

type Reference = Pack["references"][number];

/** When everything in these packs happened. */
export const AT = "2026-11-20T10:11:12.345Z";

/** Returns a document of a pack. */
export const document = (more: object = {}) =>
  ({
    id: "doc_1",
    name: "Passport",
    state: "accepted",
    required: true,
    content: null,
    expires_on: null,
    rejection_reason: null,
    ...more,
  }) as Pack["documents"][number];

/** Returns a reference of a pack. */
export const reference = (more: object = {}) =>
  ({
    id: "ref_1",
    name: null,
    company: null,
    job_title: null,
    relationship: null,
    email: null,
    phone: null,
    state: "not_requested",
    requested_at: null,
    received_at: null,
    response: null,
    ...more,
  }) as Reference;

/** The content of a document of a pack. */
export const content = { filename: "p.pdf", content_type: "application/pdf", size: 1, sha256: "ab", uploaded_at: AT };

const empty = {
  name: null,
  first_name: null,
  last_name: null,
  phone: null,
  job_title: null,
  start_date: null,
  started_at: null,
  state: "created",
  state_reason: null,
  email: null,
  external_id: null,
};

/** Without the marks that keep a text's direction to itself, which printable.test.ts is about. */
const plain = (sheet: Sheet) => JSON.parse(JSON.stringify(sheet).replaceAll(/[\u2068\u2069]/g, "")) as Sheet;

/** Returns what the PDF shows of a pack with these values. All others are null or empty. */
export const sheet = ({ candidate = {}, ...more }: { candidate?: object } & Partial<Omit<Pack, "candidate">> = {}) =>
  plain(
    sheetOf({
      candidate_id: "cand_1",
      pack_version: 7,
      generated_at: AT,
      complete: false,
      account: { id: "acct_1", name: "Hire & Co" },
      documents: [],
      references: [],
      reference_requirements: { required: 2, received: 1, outstanding: 1 },
      missing: [],
      ...more,
      candidate: { ...empty, ...candidate },
    } as unknown as Pack),
  );
