import type { Words } from "./words.ts";

export const en: Words = {
  language: "en",
  pages: {
    documents: {
      title: (sender) => `Documents for ${sender}`,
      file: (name) => `File for ${name}`,
      hint: (megabytes) => `One file for each document, up to ${megabytes}\u00a0MB. A photo or a PDF is fine.`,
      send: "Send",
      received: "Received",
      others: (count) => `and ${count} more`,
      more: (count) =>
        `${count} more ${count === 1 ? "document is" : "documents are"} needed. You will see ${count === 1 ? "it" : "them"} here once you have sent these.`,
      arrived: (name) => `We have received “${name}”. Thank you.`,
      all: "We have received everything. Thank you.",
    },
    upload: {
      noFile: "Choose a file first. It must not be empty.",
      tooLarge: (megabytes) => `The file is too large. It may have up to ${megabytes}\u00a0MB.`,
      filename: "The name of the file is too long. Rename the file, and send it again.",
      notNeeded: "This document is no longer needed.",
      incomplete: "The upload was not complete. Please send the file again.",
      failed: "The file could not be stored. Please send it again.",
    },
    reference: {
      title: (person) => (person === null ? "A reference" : `A reference for ${person}`),
      intro: (person, sender) =>
        `${person ?? "A candidate"} has named you as a reference, and ${sender} would like to hear from you.`,
      can: "Can you give this reference?",
      yes: "Yes, continue",
      no: "No, I cannot",
      questionsIntro: (sender) => `Answer as much as you can. Your answers go to ${sender}.`,
      send: "Send the answers",
      received: "We have received your answers.",
      declined: "You told us that you cannot give this reference.",
      empty: "Answer at least one question.",
      tooLong: (characters) => `Your answers are too long. Shorten them by about ${characters} characters.`,
      incomplete: "Your answers did not arrive completely. Please send them again.",
      changed: "The questions have changed. Please look through your answers, and send them again.",
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
      ask: (sender) => `Do you want to stop all messages from ${sender} to this address?`,
      links: "You can still send documents and answers through the links that you have.",
      button: "Stop the messages",
      stopped: "The messages are stopped",
      done: (sender, contact) =>
        `${sender} will send no more messages to this address. If this was a mistake, contact ${contact}.`,
    },
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
  hello: ({ name, firstName }) => (name === null ? "Hello," : `Hello ${firstName ?? name},`),
  documents: {
    subject: (sender) => `${sender} needs documents from you`,
    ask: (sender, job) =>
      job === null
        ? `${sender} needs these documents from you`
        : `${sender} needs these documents from you for the job “${job}”`,
    open: "You can send them on this page, from a phone too:",
    button: "Send documents",
  },
  reference: {
    ask: (person, sender) =>
      `${person ?? "A candidate"} has named you as a reference. ${sender} would like to ask you a few questions. This takes about five minutes.`,
    open: "You can answer the questions or decline on this page:",
    button: "Give a reference",
  },
  colon: ":",
  reminder: "Reminder",
  optional: "if you have it",
  rejected: "not accepted",
  expired: "expired",
  stop: (sender) => `If you do not want any more messages from ${sender} to this address, you can stop them here:`,
};
