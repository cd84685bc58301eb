/** What messages and pages say, as plain text. `sender` is who asks. `person` is the candidate's name, null if not known. */
export type Words = typeof en;

export const en = {
  /** Its language tag (BCP 47). */
  language: "en",
  pages: {
    /** Begins the title of a page that says what is wrong. */
    error: "Error",
    documents: {
      title: (sender: string) => `Documents for ${sender}`,
      hint: "Send one file for each document. A photo or a PDF is fine.",
      /** `size` is the largest size of a file. */
      limit: (size: string) => `Up to ${size}`,
      send: "Send",
      /** Stands below a document's name. */
      received: "Received",
      replace: "Send another file instead",
      /** So many documents are not shown yet. */
      more: (count: number) =>
        `${count} more to send. You will see the rest here once you have sent the documents above.`,
      /** Tells documents of one name apart. */
      which: (n: number, count: number, date: string) => `${n} of ${count}, asked for on ${date}`,
      /** `file` is the name and size of the file. Empty if they are not known. */
      arrived: (name: string, file: string) => `We have received “${name}”${file && ` (${file})`}. Thank you.`,
      all: "We have received everything. Thank you.",
    },
    /** Why a file was refused, and what to do. */
    upload: {
      noFile: "Choose a file first. It must not be empty.",
      tooLarge: (size: string) => `The file is too large. It may be up to ${size}.`,
      program: "Programs, scripts and web pages are not accepted. Please send a document, such as a PDF or a photo.",
      filename: "The name of the file is too long. Rename the file, and send it again.",
      notNeeded: "The file was not stored. This document is no longer needed, or another file has arrived for it.",
      incomplete: "What you sent did not arrive completely. Please send it again.",
      failed: "The file could not be stored. Please send it again.",
    },
    reference: {
      title: (person: string | null) => (person === null ? "A reference" : `A reference for ${person}`),
      can: "Can you give this reference?",
      yes: "Yes, continue",
      no: "No, I cannot",
      sure: (sender: string) => `Do you want to tell ${sender} that you cannot give this reference?`,
      decline: "I cannot give this reference",
      back: "Back",
      questionsIntro: (sender: string) => `Answer as much as you can. Your answers go to ${sender}.`,
      received: "We have received your answers.",
      declined: "You told us that you cannot give this reference.",
      takeBack: "I can give this reference after all",
      empty: "Answer at least one question.",
      limit: (count: string) => `Up to ${count} characters`,
      tooLong: "At least one answer is too long. Shorten what is marked, and send your answers again.",
      /** Followed by the number of characters. */
      excess: "Characters over the limit",
      changed: "The questions have changed. Please look through your answers, and send them again.",
      /** Stands above answers that are not taken, and what to do with them. */
      unsent: "This text was not sent. You can copy it from here.",
      answer: (n: number) => `Answer ${n}`,
      /** The questions of an account that has none of its own. */
      questions: [
        "How do you know this person, and for how long?",
        "What were this person’s main tasks?",
        "What does this person do especially well?",
        "What could this person still improve?",
        "Would you work with this person again?",
      ],
    },
    stop: {
      title: "Stop these messages",
      ask: (sender: string) => `Do you want to stop all messages from ${sender} to this address?`,
      /** Follows where the links still work. */
      links: "You can still send documents and answers through the links that you have.",
      /** The title once they are stopped. */
      stopped: "The messages are stopped",
      done: (sender: string) => `${sender} will send no more messages to this address.`,
    },
    /** The foot of pages and messages says who asks, on which date the link ends, and who helps. */
    behalf: (sender: string) => `We are writing to you on behalf of ${sender}.`,
    until: (date: string) => `This link works until ${date}.`,
    /** `contact` names the sender and its reply address. */
    questions: (contact: string) => `Do you have questions? Contact ${contact}.`,
    /** The title of a page that says what was done. */
    thanks: "Thank you",
    closed: {
      title: "This page is no longer needed",
      text: "There is nothing left to do here. You can close this page.",
    },
    expired: {
      title: "This link has expired",
      text: "If something is still needed from you, there is a newer link in the latest message.",
    },
    unknown: {
      title: "This link does not work",
      text: "Please open the link in the latest message. If the message is old, you may not need to do anything.",
    },
    tooMany: {
      title: "Please wait a moment",
      text: "Too many requests arrived. Wait a minute, then open the link in your message again. If you were sending something, it has not arrived.",
    },
    broken: { title: "Something went wrong", text: "This is our fault. Try again in a minute." },
  },
  /** The first name is null if it is not known by itself. */
  hello: (name: string | null, firstName: string | null) => (name === null ? "Hello," : `Hello ${firstName ?? name},`),
  documents: {
    needed: "Documents are needed from you.",
    subject: (sender: string, count: number) => `${sender} needs ${count === 1 ? "a document" : "documents"} from you`,
    /** A sentence without its end: a page ends it with a full stop, a message with a colon. */
    ask: (sender: string, job: string | null, count: number) =>
      `${sender} needs ${count === 1 ? "this document" : "these documents"} from you${job === null ? "" : ` for the job “${job}”`}`,
    open: "You can send documents on this page, from a phone too:",
    button: "Send documents",
  },
  reference: {
    named: (person: string | null) => `${person ?? "A candidate"} has named you as a reference.`,
    ask: (sender: string) => `${sender} would like to ask you a few questions. This takes about five minutes.`,
    open: "You can answer the questions or decline on this page:",
    button: "Give a reference",
  },
  /** A colon, with the space that the language puts before it. */
  colon: ":",
  /** Stands before the subject of a repeated message, with a colon. */
  reminder: "Reminder",
  optional: "if you have it",
  rejected: "not accepted",
  expired: "expired",
  stop: (sender: string) =>
    `If you do not want any more messages from ${sender} to this address, you can stop them here:`,
  /** Sentences that say what changed since the last message. They have no full stop, because a reason may follow. */
  changes: {
    rejected: (name: string) => `“${name}” was not accepted`,
    expired: (name: string) => `“${name}” has expired`,
    requested: (name: string) => `“${name}” is needed as well`,
  },
};
