import { enPages } from "./en-pages.ts";
import type { Words } from "./words.ts";

export const en: Words = {
  language: "en",
  pages: enPages,
  hello: ({ name, firstName }) => (name === null ? "Hello," : `Hello ${firstName ?? name},`),
  documents: {
    subject: (sender, again) => `${again ? "Reminder: " : ""}${sender} needs documents from you`,
    ask: (sender, job) =>
      job === null
        ? `${sender} needs these documents from you:`
        : `${sender} needs these documents from you for the job “${job}”:`,
    open: "You can send them on this page, from a phone too:",
    button: "Send documents",
  },
  reference: {
    subject: (person, again) => `${again ? "Reminder: " : ""}A reference${person === null ? "" : ` for ${person}`}`,
    ask: (person, sender) =>
      `${person ?? "A candidate"} has named you as a reference. ${sender} would like to ask you a few questions. This takes about five minutes.`,
    open: "You can answer the questions or decline on this page:",
    button: "Give a reference",
  },
  optional: "if you have it",
  rejected: (reason) => (reason === null ? "not accepted" : `not accepted: ${reason}`),
  expired: "expired",
  stop: (sender) => `If you do not want any more messages from ${sender} about this, you can stop them here:`,
};
