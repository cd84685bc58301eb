import { dePages } from "./de-pages.ts";
import type { Words } from "./words.ts";

export const de: Words = {
  language: "de",
  pages: dePages,
  hello: ({ name }) => (name === null ? "Guten Tag," : `Guten Tag ${name},`),
  documents: {
    subject: (sender, again) => `${again ? "Erinnerung: " : ""}${sender} benötigt Unterlagen von Ihnen`,
    ask: (sender, job) =>
      job === null
        ? `${sender} benötigt folgende Unterlagen von Ihnen:`
        : `${sender} benötigt für die Stelle „${job}“ folgende Unterlagen von Ihnen:`,
    open: "Senden Sie sie über diese Seite. Das geht auch mit dem Smartphone:",
    button: "Unterlagen senden",
  },
  reference: {
    subject: (person, again) => `${again ? "Erinnerung: " : ""}Eine Referenz${person === null ? "" : ` für ${person}`}`,
    ask: (person, sender) =>
      `${person ?? "Eine Person, die sich bewirbt,"} hat Sie als Referenz genannt. ${sender} möchte Ihnen ein paar Fragen stellen. Das dauert etwa fünf Minuten.`,
    open: "Auf dieser Seite können Sie die Fragen beantworten oder absagen:",
    button: "Referenz geben",
  },
  optional: "falls vorhanden",
  rejected: (reason) => (reason === null ? "nicht akzeptiert" : `nicht akzeptiert: ${reason}`),
  expired: "abgelaufen",
  stop: (sender) =>
    `Wenn Sie hierzu keine weiteren Nachrichten von ${sender} erhalten möchten, können Sie sie hier abbestellen:`,
};
