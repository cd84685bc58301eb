import type { Words } from "./en.ts";

export const nl: Words = {
  language: "nl",
  pages: {
    documents: {
      title: (sender) => `Documenten voor ${sender}`,
      file: (name) => `Bestand voor ${name}`,
      hint: (megabytes) => `Eén bestand per document, maximaal ${megabytes}\u00a0MB. Een foto of een pdf is goed.`,
      send: "Versturen",
      received: "Ontvangen",
      others: (count) => `en nog ${count}`,
      more: (count) =>
        count === 1
          ? "Er is nog één document nodig. U ziet het hier zodra u deze hebt verstuurd."
          : `Er zijn nog ${count} documenten nodig. U ziet ze hier zodra u deze hebt verstuurd.`,
      arrived: (name) => `We hebben “${name}” ontvangen. Dank u wel.`,
      all: "We hebben alles ontvangen. Dank u wel.",
    },
    upload: {
      noFile: "Kies eerst een bestand. Het mag niet leeg zijn.",
      tooLarge: (megabytes) => `Het bestand is te groot. Het mag maximaal ${megabytes}\u00a0MB zijn.`,
      filename: "De naam van het bestand is te lang. Geef het een andere naam en verstuur het opnieuw.",
      notNeeded: "Dit document is niet meer nodig.",
      incomplete: "Het bestand is niet volledig aangekomen. Verstuur het opnieuw.",
      failed: "Het bestand kon niet worden opgeslagen. Verstuur het opnieuw.",
    },
    reference: {
      title: (person) => (person === null ? "Een referentie" : `Een referentie voor ${person}`),
      intro: (person, sender) =>
        `${person ?? "Een kandidaat"} heeft u als referentie opgegeven, en ${sender} hoort graag van u.`,
      can: "Kunt u deze referentie geven?",
      yes: "Ja, verder",
      no: "Nee, dat kan ik niet",
      questionsIntro: (sender) => `Beantwoord wat u kunt. Uw antwoorden gaan naar ${sender}.`,
      send: "Antwoorden versturen",
      received: "We hebben uw antwoorden ontvangen.",
      declined: "U hebt aangegeven dat u deze referentie niet kunt geven.",
      empty: "Beantwoord minstens één vraag.",
      tooLong: (characters) => `Uw antwoorden zijn te lang. Kort ze met ongeveer ${characters} tekens in.`,
      incomplete: "Uw antwoorden zijn niet volledig aangekomen. Verstuur ze opnieuw.",
      changed: "De vragen zijn gewijzigd. Kijk uw antwoorden na en verstuur ze opnieuw.",
      questions: [
        "Waar kent u deze persoon van, en hoe lang al?",
        "Wat waren de belangrijkste taken van deze persoon?",
        "Wat doet deze persoon bijzonder goed?",
        "Wat zou deze persoon nog kunnen verbeteren?",
        "Zou u weer met deze persoon willen werken?",
      ],
    },
    stop: {
      title: "Afmelden voor deze berichten",
      ask: (sender) => `Wilt u op dit adres helemaal geen berichten van ${sender} meer ontvangen?`,
      links: "Met de links die u al hebt, kunt u nog steeds documenten en antwoorden versturen.",
      button: "Afmelden",
      stopped: "U bent afgemeld",
      done: (sender, contact) =>
        `${sender} stuurt geen berichten meer naar dit adres. Was dit een vergissing? Neem dan contact op met ${contact}.`,
    },
    thanks: "Dank u wel",
    closed: {
      title: "Deze pagina is niet meer nodig",
      text: "U hoeft hier niets meer te doen. U kunt deze pagina sluiten.",
    },
    unknown: {
      title: "Deze link werkt niet",
      text: "Open de link in het laatste bericht. Als het bericht oud is, hoeft u misschien niets meer te doen.",
    },
    tooMany: {
      title: "Een ogenblik geduld",
      text: "Er kwamen te veel verzoeken. Wacht een minuut en open dan de link in uw bericht opnieuw. Als u iets aan het versturen was, is het niet aangekomen.",
    },
    broken: { title: "Er is iets misgegaan", text: "De fout ligt bij ons. Probeer het over een minuut opnieuw." },
  },
  hello: (name) => (name === null ? "Goedendag," : `Beste ${name},`),
  documents: {
    subject: (sender) => `${sender} heeft documenten van u nodig`,
    ask: (sender, job) =>
      job === null
        ? `${sender} heeft deze documenten van u nodig`
        : `${sender} heeft voor de functie “${job}” deze documenten van u nodig`,
    open: "U kunt ze via deze pagina versturen, ook met een telefoon:",
    button: "Documenten versturen",
  },
  reference: {
    ask: (person, sender) =>
      `${person ?? "Een kandidaat"} heeft u als referentie opgegeven. ${sender} wil u graag een paar vragen stellen. Dat duurt ongeveer vijf minuten.`,
    open: "Op deze pagina kunt u de vragen beantwoorden of aangeven dat u dat niet kunt:",
    button: "Referentie geven",
  },
  colon: ":",
  reminder: "Herinnering",
  optional: "indien beschikbaar",
  rejected: "niet geaccepteerd",
  expired: "verlopen",
  stop: (sender) => `Als u op dit adres geen berichten van ${sender} meer wilt ontvangen, kunt u zich hier afmelden:`,
  changes: {
    rejected: (name, reason) =>
      reason === null ? `“${name}” is niet geaccepteerd.` : `“${name}” is niet geaccepteerd: ${reason}`,
    expired: (name) => `“${name}” is verlopen.`,
    requested: (name) => `Ook “${name}” is nodig.`,
  },
};
