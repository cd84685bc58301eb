/**
 * What the pages behind links say, in one language. `sender` is who asks. `person` is the candidate's name, null if it is
 * not known. `megabytes` is a number as the language writes it.
 */
export interface PageWords {
  readonly documents: {
    readonly title: (sender: string) => string;
    readonly intro: (sender: string, job: string | null) => string;
    readonly file: (name: string) => string;
    readonly hint: (megabytes: string) => string;
    readonly send: string;
    /** Stands below a document's name. */
    readonly received: string;
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
    readonly button: string;
    readonly done: (sender: string) => string;
  };
  /** The title of a page that says what was done. */
  readonly thanks: string;
  readonly closed: Notice;
  readonly unknown: Notice;
  readonly tooMany: Notice;
  readonly broken: Notice;
}

/** A page that only says something. */
export interface Notice {
  readonly title: string;
  readonly text: string;
}
