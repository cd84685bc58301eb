import { renderPack } from "../../src/pack/render.ts";
import type { Pack } from "../../src/pack/schema.ts";
import { candidateRecord, contentRecord, documentRecord, referenceRecord } from "../support/records.ts";

const NOW = "2026-11-21T01:40:12.345Z";

/** Scripts, emoji, and all of them together. */
export const SCRIPTS: Record<string, string> = {
  Latin: "Zoë Ångström, Tiếng Việt",
  Greek: "Ελληνικά",
  Cyrillic: "Русский",
  Arabic: "عربي (CV) 2024",
  Hebrew: "עברית (CV) 2024",
  Devanagari: "हिन्दी क्षत्रिय",
  Bengali: "বাংলা",
  Tamil: "தமிழ்",
  Thai: "ภาษาไทย",
  Odia: "ଓଡ଼ିଆ",
  Thaana: "ދިވެހި",
  Tibetan: "ཀརྨ",
  Syriac: "ܣܘܪܝܝܐ",
  "Chinese, Japanese and Korean": "山田太郎 カタカナ 한국어",
  "Japanese surnames beyond JIS X 0208": "山﨑 𠮷田",
  symbols: "☐ ☑ ✓ ★",
  emoji: "😀 👩‍👩‍👧",
};
SCRIPTS["all scripts"] = Object.values(SCRIPTS).join(" ");

/** Text that is hard to print, and that PDF/A allows. */
export const HARD: Record<string, string> = {
  "a word of 150 letters": "W".repeat(150),
  "a mark on every letter": "e\u0301".repeat(100),
  "a hundred marks on a letter": `a${"\u0301".repeat(100)}`,
  "control characters": "a\u0000\u001b[31m\u0007b",
  "changes of direction": "\u202Egnp.exe \u200F1\u200E2",
  "several lines": "one\ntwo\n\nfour",
};

/** Text that PDF/A does not allow: no font has it, or it has no meaning outside of one system. */
export const FORBIDDEN: Record<string, string> = {
  hieroglyphs: "𓀀",
  "a character for private use": "\uE000",
};

/** A pack that shows a text everywhere: as names, values and answers. */
export function packOf(text: string): Pack {
  const content = contentRecord({ filename: text });
  const documents = (["rejected", "accepted", "pending"] as const).map((state, n) =>
    documentRecord({
      id: `doc_${n}`,
      name: text,
      state,
      rejection_reason: state === "rejected" ? text : null,
      content: state === "pending" ? null : content,
    }),
  );
  const references = (["received", "requested"] as const).map((state, n) =>
    referenceRecord({
      id: `ref_${n}`,
      name: text,
      email: "a@example.com",
      company: text,
      job_title: text,
      relationship: text,
      state,
      response: state === "received" ? { [text]: text, again: true } : null,
      requested_at: NOW,
    }),
  );
  const record = candidateRecord({ name: text, first_name: text, last_name: text, documents, references });
  return renderPack(record, {
    account: { id: "acct_1", name: text, keys: [] },
    history: [],
    history_complete: true,
    language: "en",
    generated_at: NOW,
  });
}
