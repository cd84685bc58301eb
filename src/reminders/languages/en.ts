/**
 * What messages and pages say. Every other language has the same texts, all of them plain text. `sender` is who asks. `person`
 * is the candidate's name, null if it is not known. `megabytes` is a number as the language writes it.
 */
export type Words = typeof en;

export const en = {
  /** Its language tag (BCP 47). */
  language: "en",
  pages: {
    documents: {
      title: (sender: string) => `Documents for ${sender}`,
      file: (name: string) => `File for ${name}`,
      hint: (megabytes: string) => `One file for each document, up to ${megabytes}\u00a0MB. A photo or a PDF is fine.`,
      send: "Send",
      /** Stands below a document's name. */
      received: "Received",
      /** Stands in place of so many names. */
      others: (count: number) => `and ${count} more`,
      /** So many documents are not shown yet. */
      more: (count: number) =>
        `${count} more ${count === 1 ? "document is" : "documents are"} needed. You will see ${count === 1 ? "it" : "them"} here once you have sent these.`,
      arrived: (name: string) => `We have received “${name}”. Thank you.`,
      all: "We have received everything. Thank you.",
    },
    /** Why a file was refused, and what to do. */
    upload: {
      noFile: "Choose a file first. It must not be empty.",
      tooLarge: (megabytes: string) => `The file is too large. It may have up to ${megabytes}\u00a0MB.`,
      filename: "The name of the file is too long. Rename the file, and send it again.",
      notNeeded: "This document is no longer needed.",
      incomplete: "The upload was not complete. Please send the file again.",
      failed: "The file could not be stored. Please send it again.",
    },
    reference: {
      title: (person: string | null) => (person === null ? "A reference" : `A reference for ${person}`),
      intro: (person: string | null, sender: string) =>
        `${person ?? "A candidate"} has named you as a reference, and ${sender} would like to hear from you.`,
      can: "Can you give this reference?",
      yes: "Yes, continue",
      no: "No, I cannot",
      questionsIntro: (sender: string) => `Answer as much as you can. Your answers go to ${sender}.`,
      send: "Send the answers",
      received: "We have received your answers.",
      declined: "You told us that you cannot give this reference.",
      empty: "Answer at least one question.",
      tooLong: (characters: number) => `Your answers are too long. Shorten them by about ${characters} characters.`,
      incomplete: "Your answers did not arrive completely. Please send them again.",
      changed: "The questions have changed. Please look through your answers, and send them again.",
      /** The questions of an account that has none of its own. */
      questions: [
        "How do you know this person, and for how long?",
        "What were their main tasks?",
        "What do they do especially well?",
        "What could they still improve?",
        "Would you work with this person again?",
      ],
    },
    stop: {
      title: "Stop these messages",
      ask: (sender: string) => `Do you want to stop all messages from ${sender} to this address?`,
      /** Follows where the links still work. */
      links: "You can still send documents and answers through the links that you have.",
      button: "Stop the messages",
      /** The title once they are stopped. */
      stopped: "The messages are stopped",
      /** `contact` is who helps if it was a mistake. */
      done: (sender: string, contact: string) =>
        `${sender} will send no more messages to this address. If this was a mistake, contact ${contact}.`,
    },
    /** The title of a page that says what was done. */
    thanks: "Thank you",
    closed: {
      title: "This page is no longer needed",
      text: "There is nothing left to do here. You can close this page.",
    },
    unknown: {
      title: "This link does not work",
      text: "Please open the link in the latest message. If the message is old, you may not need to do anything.",
    },
    tooMany: {
      title: "Please wait a moment",
      text: "Too many requests came. Wait a minute, then open the link in your message again. If you were sending something, it has not arrived.",
    },
    broken: { title: "Something went wrong", text: "This is our fault. Try again in a minute." },
  },
  /** The first name is null if it is not known by itself. */
  hello: (name: string | null, firstName: string | null) => (name === null ? "Hello," : `Hello ${firstName ?? name},`),
  documents: {
    subject: (sender: string) => `${sender} needs documents from you`,
    /** A sentence without its end: a page ends it with a full stop, a message with a colon. */
    ask: (sender: string, job: string | null) =>
      job === null
        ? `${sender} needs these documents from you`
        : `${sender} needs these documents from you for the job “${job}”`,
    open: "You can send them on this page, from a phone too:",
    button: "Send documents",
  },
  reference: {
    ask: (person: string | null, sender: string) =>
      `${person ?? "A candidate"} has named you as a reference. ${sender} would like to ask you a few questions. This takes about five minutes.`,
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
  /** What changed since the last message: whole sentences. */
  changes: {
    rejected: (name: string, reason: string | null) =>
      reason === null ? `“${name}” was not accepted.` : `“${name}” was not accepted: ${reason}`,
    expired: (name: string) => `“${name}” has expired.`,
    requested: (name: string) => `“${name}” is needed as well.`,
  },
};
