import { frPages } from "./fr-pages.ts";
import type { Words } from "./words.ts";

// A no-break space (\u00a0) precedes : ? and », and follows «.

export const fr: Words = {
  language: "fr",
  pages: frPages,
  hello: ({ name }) => (name === null ? "Bonjour," : `Bonjour ${name},`),
  documents: {
    subject: (sender, again) => `${again ? "Rappel\u00a0: " : ""}${sender} a besoin de documents de votre part`,
    ask: (sender, job) =>
      job === null
        ? `${sender} a besoin des documents suivants\u00a0:`
        : `Pour le poste «\u00a0${job}\u00a0», ${sender} a besoin des documents suivants\u00a0:`,
    open: "Vous pouvez les envoyer sur cette page, y compris depuis un téléphone\u00a0:",
    button: "Envoyer les documents",
  },
  reference: {
    subject: (person, again) =>
      `${again ? "Rappel\u00a0: " : ""}Une référence${person === null ? "" : ` pour ${person}`}`,
    ask: (person, sender) =>
      `${person ?? "Une personne candidate"} a donné votre nom comme référence. ${sender} souhaite vous poser quelques questions. Cela prend environ cinq minutes.`,
    open: "Répondez sur cette page, ou indiquez que vous ne pouvez pas répondre\u00a0:",
    button: "Donner une référence",
  },
  optional: "si vous l’avez",
  rejected: (reason) => (reason === null ? "document non accepté" : `document non accepté\u00a0: ${reason}`),
  expired: "document expiré",
  stop: (sender) =>
    `Si vous ne voulez plus recevoir de messages de ${sender} à ce sujet, vous pouvez vous désabonner ici\u00a0:`,
};
