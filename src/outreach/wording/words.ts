import type { PageWords } from "./page-words.ts";

/** A document, as a message or a page names it. */
export interface NamedDocument {
  readonly name: string;
  readonly required: boolean;
  readonly state: "requested" | "rejected" | "expired";
  readonly rejection_reason: string | null;
}

/** A recipient. The first name is null if it is not known by itself. */
interface Recipient {
  readonly name: string | null;
  readonly firstName: string | null;
}

/**
 * What messages and pages say, in one language. Every text is plain text. `sender` is who asks. `person` is the candidate's
 * name, null if it is not known.
 */
export interface Words {
  /** Its language tag (BCP 47). */
  readonly language: string;
  readonly pages: PageWords;

  readonly hello: (recipient: Recipient) => string;
  readonly documents: {
    readonly subject: (sender: string, again: boolean) => string;
    readonly ask: (sender: string, job: string | null) => string;
    readonly open: string;
    readonly button: string;
  };
  readonly reference: {
    readonly subject: (person: string | null, again: boolean) => string;
    readonly ask: (person: string | null, sender: string) => string;
    readonly open: string;
    readonly button: string;
  };
  readonly optional: string;
  readonly rejected: (reason: string | null) => string;
  readonly expired: string;
  readonly stop: (sender: string) => string;
}
