import { renderPack } from "../../src/pack/render.ts";
import type { Pack } from "../../src/pack/schema.ts";
import { type Sheet, sheetOf } from "../../src/pack/sheet.ts";
import { candidateRecord, documentRecord, referenceRecord } from "../support/records.ts";

/** When everything in these packs happened. */
export const AT = "2026-11-20T10:11:12.345Z";

const record = candidateRecord({
  documents: [documentRecord({ name: "Passport", state: "accepted" })],
  references: [referenceRecord()],
});
const PACK = renderPack(record, {
  generated_at: AT,
  language: "en",
  account: { id: "acct_1", name: "Hire & Co", keys: [] },
  history: [],
  history_complete: true,
});

/** Returns a document of a pack. */
export const document = (more: object = {}) => ({ ...PACK.documents[0]!, ...more });

/** Returns a reference of a pack. */
export const reference = (more: object = {}) => ({ ...PACK.references[0]!, ...more });

/** The content of a document of a pack. */
export const content = { filename: "p.pdf", content_type: "application/pdf", size: 1, sha256: "ab", uploaded_at: AT };

/** Without the marks that keep a text's direction to itself, which printable.test.ts is about. */
const plain = (sheet: Sheet) => JSON.parse(JSON.stringify(sheet).replaceAll(/[\u2068\u2069]/g, "")) as Sheet;

/** Returns what the PDF shows of a pack with these values. All others are null or empty. */
export const sheet = ({ candidate = {}, ...more }: { candidate?: object } & Partial<Omit<Pack, "candidate">> = {}) =>
  plain(
    sheetOf({
      ...PACK,
      pack_version: 7,
      documents: [],
      references: [],
      reference_requirements: { required: 2, received: 1, outstanding: 1 },
      missing: [],
      ...more,
      candidate: { ...PACK.candidate, ...candidate },
    }),
  );
