import type { Tone } from "./wording.ts";

/** A label and its value, as the PDF shows them. */
export type Row = readonly [label: string, value: string];

/** The input of the template pack.typ. All of its text is safe to print. */
export interface Sheet {
  readonly lang: string;
  readonly title: string;
  readonly made_at: string;
  readonly words: Readonly<Record<string, string>>;
  readonly candidate: { readonly name: string } & Pick<Item, "rows" | "wide" | "labels">;
  readonly footer: string;
  /** Says what is not shown, and where it is. Empty if all is shown. */
  readonly notices: readonly string[];
  readonly complete: boolean;
  readonly missing: readonly string[];
  readonly documents: readonly Item[];
  readonly references: readonly Item[];
  readonly references_summary: string;
}

export interface Item {
  readonly number: string;
  readonly name: string;
  readonly state: string;
  readonly tone: Tone;
  /** Short values, four on a line. */
  readonly rows: readonly Row[];
  /** Values that may be long, or are read character by character: one on a line. */
  readonly wide: readonly Row[];
  /** The client's metadata. */
  readonly labels: readonly Row[];
  /** Who answered, and when. Null without an answer. */
  readonly answered: string | null;
  /** Questions as the referee read them, with their answers. */
  readonly questions: readonly Row[];
  /** A response of any other form: its members and their values. */
  readonly answers: readonly Row[];
}
