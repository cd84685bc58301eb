import { nlPages } from "./nl-pages.ts";
import type { Words } from "./words.ts";

export const nl: Words = {
  language: "nl",
  pages: nlPages,
  hello: ({ name }) => (name === null ? "Goedendag," : `Beste ${name},`),
  documents: {
    subject: (sender, again) => `${again ? "Herinnering: " : ""}${sender} heeft documenten van u nodig`,
    ask: (sender, job) =>
      job === null
        ? `${sender} heeft deze documenten van u nodig:`
        : `${sender} heeft voor de functie “${job}” deze documenten van u nodig:`,
    open: "U kunt ze via deze pagina versturen, ook met een telefoon:",
    button: "Documenten versturen",
  },
  reference: {
    subject: (person, again) =>
      `${again ? "Herinnering: " : ""}Een referentie${person === null ? "" : ` voor ${person}`}`,
    ask: (person, sender) =>
      `${person ?? "Een kandidaat"} heeft u als referentie opgegeven. ${sender} wil u graag een paar vragen stellen. Dat duurt ongeveer vijf minuten.`,
    open: "Op deze pagina kunt u de vragen beantwoorden of aangeven dat u dat niet kunt:",
    button: "Referentie geven",
  },
  optional: "indien beschikbaar",
  rejected: (reason) => (reason === null ? "niet geaccepteerd" : `niet geaccepteerd: ${reason}`),
  expired: "verlopen",
  stop: (sender) => `Als u hierover geen berichten meer van ${sender} wilt ontvangen, kunt u zich hier afmelden:`,
};
