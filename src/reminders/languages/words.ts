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
    readonly subject: (sender: string) => string;
    /** A sentence without its end: a page ends it with a full stop, a message with a colon. */
    readonly ask: (sender: string, job: string | null) => string;
    readonly open: string;
    readonly button: string;
  };
  readonly reference: {
    readonly ask: (person: string | null, sender: string) => string;
    readonly open: string;
    readonly button: string;
  };
  /** A colon, with the space that the language puts before it. */
  readonly colon: string;
  /** Stands before the subject of a repeated message, with a colon. */
  readonly reminder: string;
  readonly optional: string;
  readonly rejected: string;
  readonly expired: string;
  readonly stop: (sender: string) => string;
}

/**
 * What the pages behind links say, in one language. `sender` is who asks. `person` is the candidate's name, null if it is
 * not known. `megabytes` is a number as the language writes it.
 */
interface PageWords {
  readonly documents: {
    readonly title: (sender: string) => string;
    readonly file: (name: string) => string;
    readonly hint: (megabytes: string) => string;
    readonly send: string;
    /** Stands below a document's name. */
    readonly received: string;
    /** Stands in place of so many names. */
    readonly others: (count: number) => string;
    /** So many documents are not shown yet. */
    readonly more: (count: number) => string;
    readonly arrived: (name: string) => string;
    readonly all: string;
  };
  /** Why a file was refused, and what to do. */
  readonly upload: {
    readonly noFile: string;
    readonly tooLarge: (megabytes: string) => string;
    readonly filename: string;
    readonly notNeeded: string;
    readonly incomplete: string;
    readonly failed: string;
  };
  readonly reference: {
    readonly title: (person: string | null) => string;
    readonly intro: (person: string | null, sender: string) => string;
    readonly can: string;
    readonly yes: string;
    readonly no: string;
    readonly questionsIntro: (sender: string) => string;
    readonly send: string;
    readonly received: string;
    readonly declined: string;
    readonly empty: string;
    readonly tooLong: (characters: number) => string;
    readonly incomplete: string;
    readonly changed: string;
    /** The questions of an account that has none of its own. */
    readonly questions: readonly string[];
  };
  readonly stop: {
    readonly title: string;
    readonly ask: (sender: string) => string;
    /** Follows where the links still work. */
    readonly links: string;
    readonly button: string;
    /** The title once they are stopped. */
    readonly stopped: string;
    /** `contact` is who helps if it was a mistake. */
    readonly done: (sender: string, contact: string) => string;
  };
  /** The title of a page that says what was done. */
  readonly thanks: string;
  readonly closed: Notice;
  readonly unknown: Notice;
  readonly tooMany: Notice;
  readonly broken: Notice;
}

interface Notice {
  readonly title: string;
  readonly text: string;
}
