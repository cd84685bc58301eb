import type { Words } from "./en.ts";

export const nl: Words = {
  language: "nl",
  pages: {
    error: "Fout",
    documents: {
      title: (sender) => `Documenten voor ${sender}`,
      hint: "Verstuur één bestand per document. Een foto of een pdf is goed.",
      limit: (size) => `Maximaal ${size}`,
      send: "Versturen",
      received: "Ontvangen",
      replace: "In plaats daarvan een ander bestand versturen",
      more: (count) => `Nog ${count} te versturen. De rest ziet u hier zodra u de documenten hierboven hebt verstuurd.`,
      which: (n, count, date) => `${n} van ${count}, gevraagd op ${date}`,
      arrived: (name, file) => `We hebben “${name}”${file && ` (${file})`} ontvangen. Dank u wel.`,
      all: "We hebben alles ontvangen. Dank u wel.",
    },
    upload: {
      noFile: "Kies eerst een bestand. Het mag niet leeg zijn.",
      tooLarge: (size) => `Het bestand is te groot. Het mag maximaal ${size} zijn.`,
      program:
        "Programma’s, scripts en webpagina’s worden niet geaccepteerd. Verstuur bijvoorbeeld een pdf of een foto.",
      filename: "De naam van het bestand is te lang. Geef het bestand een andere naam en verstuur het opnieuw.",
      notNeeded: "Het bestand is niet opgeslagen. Dit document is niet meer nodig, of er is al een ander bestand.",
      incomplete: "Het bestand is niet volledig aangekomen. Verstuur het bestand alstublieft opnieuw.",
      failed: "Het bestand kon niet worden opgeslagen. Verstuur het bestand alstublieft opnieuw.",
    },
    reference: {
      title: (person) => (person === null ? "Een referentie" : `Een referentie voor ${person}`),
      can: "Kunt u deze referentie geven?",
      yes: "Ja, verder",
      no: "Nee, dat kan ik niet",
      sure: (sender) => `Wilt u ${sender} laten weten dat u deze referentie niet kunt geven?`,
      decline: "Ja, laat dat weten",
      back: "Terug",
      questionsIntro: (sender) => `Beantwoord wat u kunt. Uw antwoorden gaan naar ${sender}.`,
      send: "Antwoorden versturen",
      received: "We hebben uw antwoorden ontvangen.",
      declined: "U hebt aangegeven dat u deze referentie niet kunt geven.",
      takeBack: "Ik kan deze referentie toch geven",
      empty: "Beantwoord minstens één vraag.",
      limit: (count) => `Maximaal ${count} tekens`,
      tooLong: "Minstens één antwoord is te lang. Kort in wat is gemarkeerd en verstuur alles opnieuw.",
      excess: "Tekens te veel",
      incomplete: "Uw antwoorden zijn niet volledig aangekomen. Verstuur uw antwoorden alstublieft opnieuw.",
      changed: "De vragen zijn gewijzigd. Kijk uw antwoorden na en verstuur ze opnieuw.",
      unsent: "Deze tekst is niet verstuurd. U kunt de tekst hier kopiëren.",
      answer: (n) => `Antwoord ${n}`,
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
      stopped: "U bent afgemeld",
      done: (sender, contact) =>
        `${sender} stuurt geen berichten meer naar dit adres. Was dit een vergissing? Neem dan contact op met ${contact}.`,
    },
    why: {
      candidate: (sender) => `We schrijven u namens ${sender}, omdat er documenten van u nodig zijn.`,
      referee: (person, sender) =>
        `We schrijven u namens ${sender}, omdat ${person ?? "een kandidaat"} u als referentie heeft opgegeven.`,
    },
    until: (date) => `Deze link werkt tot en met ${date}.`,
    questions: (contact) => `Hebt u vragen? Neem contact op met ${contact}.`,
    thanks: "Dank u wel",
    closed: {
      title: "Deze pagina is niet meer nodig",
      text: "U hoeft hier niets meer te doen. U kunt deze pagina sluiten.",
    },
    expired: {
      title: "Deze link is verlopen",
      text: (contact) =>
        `Als er nog iets van u nodig is, staat er een nieuwe link in het laatste bericht. Hebt u geen nieuwer bericht? Neem dan contact op met ${contact}.`,
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
    subject: (sender, count) => `${sender} heeft ${count === 1 ? "een document" : "documenten"} van u nodig`,
    ask: (sender, job, count) =>
      `${sender} heeft${job === null ? "" : ` voor de functie “${job}”`} ${count === 1 ? "dit document" : "deze documenten"} van u nodig`,
    open: "Op deze pagina kunt u documenten versturen, ook met een telefoon:",
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
    rejected: (name) => `“${name}” is niet geaccepteerd`,
    expired: (name) => `“${name}” is verlopen`,
    requested: (name) => `Ook “${name}” is nodig`,
  },
};
