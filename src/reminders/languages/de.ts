import type { Words } from "./en.ts";

export const de: Words = {
  language: "de",
  pages: {
    error: "Fehler",
    documents: {
      title: (sender) => `Unterlagen für ${sender}`,
      hint: "Senden Sie eine Datei pro Dokument. Ein Foto oder ein PDF genügt.",
      limit: (size) => `Höchstens ${size}`,
      send: "Senden",
      received: "Erhalten",
      replace: "Stattdessen eine andere Datei senden",
      more: (count) =>
        `Noch ${count} zu senden. Den Rest sehen Sie hier, sobald Sie die Dokumente oben gesendet haben.`,
      which: (n, count, date) => `${n} von ${count}, angefordert am ${date}`,
      arrived: (name, file) => `Wir haben „${name}“${file && ` (${file})`} erhalten. Vielen Dank.`,
      all: "Wir haben alles erhalten. Vielen Dank.",
    },
    upload: {
      noFile: "Wählen Sie zuerst eine Datei aus. Sie darf nicht leer sein.",
      tooLarge: (size) => `Die Datei ist zu groß. Sie darf höchstens ${size} groß sein.`,
      program:
        "Programme, Skripte und Webseiten werden nicht angenommen. Bitte senden Sie zum Beispiel ein PDF oder ein Foto.",
      filename: "Der Name der Datei ist zu lang. Benennen Sie die Datei um, und senden Sie die Datei noch einmal.",
      notNeeded:
        "Die Datei wurde nicht gespeichert. Dieses Dokument wird nicht mehr benötigt, oder eine andere Datei ist schon da.",
      incomplete: "Es ist nicht alles angekommen. Bitte senden Sie alles noch einmal.",
      failed: "Die Datei konnte nicht gespeichert werden. Bitte senden Sie die Datei noch einmal.",
    },
    reference: {
      title: (person) => (person === null ? "Eine Referenz" : `Eine Referenz für ${person}`),
      can: "Können Sie diese Referenz geben?",
      yes: "Ja, weiter",
      no: "Nein, das kann ich nicht",
      sure: (sender) => `Möchten Sie ${sender} mitteilen, dass Sie diese Referenz nicht geben können?`,
      decline: "Ja, ich sage ab",
      back: "Zurück",
      questionsIntro: (sender) => `Antworten Sie, so gut Sie können. Ihre Antworten gehen an ${sender}.`,
      received: "Wir haben Ihre Antworten erhalten.",
      declined: "Sie haben angegeben, dass Sie diese Referenz nicht geben können.",
      takeBack: "Ich kann diese Referenz doch geben",
      empty: "Beantworten Sie mindestens eine Frage.",
      limit: (count) => `Höchstens ${count} Zeichen`,
      tooLong: "Mindestens eine Antwort ist zu lang. Kürzen Sie, was markiert ist, und senden Sie alles noch einmal.",
      excess: "Zeichen zu viel",
      changed: "Die Fragen haben sich geändert. Bitte prüfen Sie Ihre Antworten, und senden Sie alles noch einmal.",
      unsent: "Dieser Text wurde nicht gesendet. Sie können ihn hier kopieren.",
      answer: (n) => `Antwort ${n}`,
      questions: [
        "Woher kennen Sie diese Person, und wie lange schon?",
        "Was waren die wichtigsten Aufgaben dieser Person?",
        "Was macht diese Person besonders gut?",
        "Was könnte diese Person noch verbessern?",
        "Würden Sie wieder mit dieser Person zusammenarbeiten?",
      ],
    },
    stop: {
      title: "Nachrichten abbestellen",
      ask: (sender) => `Möchten Sie an diese Adresse gar keine Nachrichten von ${sender} mehr erhalten?`,
      links: "Über die Links, die Sie schon haben, können Sie weiterhin Dokumente und Antworten senden.",
      stopped: "Die Nachrichten sind abbestellt",
      done: (sender) => `${sender} schickt keine Nachrichten mehr an diese Adresse.`,
    },
    behalf: (sender) => `Wir schreiben Ihnen im Auftrag von ${sender}.`,
    until: (date) => `Dieser Link funktioniert bis zum ${date}.`,
    questions: (contact) => `Haben Sie Fragen? Wenden Sie sich an ${contact}.`,
    thanks: "Vielen Dank",
    closed: {
      title: "Diese Seite wird nicht mehr benötigt",
      text: "Hier ist nichts mehr zu tun. Sie können diese Seite schließen.",
    },
    expired: {
      title: "Dieser Link ist abgelaufen",
      text: "Falls noch etwas von Ihnen benötigt wird, steht in der neuesten Nachricht ein neuer Link.",
    },
    unknown: {
      title: "Dieser Link funktioniert nicht",
      text: "Öffnen Sie bitte den Link in der neuesten Nachricht. Wenn die Nachricht alt ist, müssen Sie vielleicht nichts mehr tun.",
    },
    tooMany: {
      title: "Bitte warten Sie einen Moment",
      text: "Es kamen zu viele Anfragen. Warten Sie eine Minute, und öffnen Sie dann den Link in Ihrer Nachricht noch einmal. Falls Sie gerade etwas gesendet haben, ist es nicht angekommen.",
    },
    broken: {
      title: "Etwas ist schiefgegangen",
      text: "Der Fehler liegt bei uns. Versuchen Sie es in einer Minute noch einmal.",
    },
  },
  hello: (name) => (name === null ? "Guten Tag," : `Guten Tag ${name},`),
  documents: {
    needed: "Es werden Unterlagen von Ihnen benötigt.",
    subject: (sender, count) => `${sender} benötigt ${count === 1 ? "ein Dokument" : "Unterlagen"} von Ihnen`,
    ask: (sender, job, count) =>
      `${sender} benötigt${job === null ? "" : ` für die Stelle „${job}“`} ${count === 1 ? "dieses Dokument" : "folgende Unterlagen"} von Ihnen`,
    open: "Auf dieser Seite können Sie Unterlagen senden, auch mit dem Smartphone:",
    button: "Unterlagen senden",
  },
  reference: {
    named: (person) => `${person ?? "Eine Person, die sich bewirbt,"} hat Sie als Referenz genannt.`,
    ask: (sender) => `${sender} möchte Ihnen ein paar Fragen stellen. Das dauert etwa fünf Minuten.`,
    open: "Auf dieser Seite können Sie die Fragen beantworten oder absagen:",
    button: "Referenz geben",
  },
  colon: ":",
  reminder: "Erinnerung",
  optional: "falls vorhanden",
  rejected: "nicht akzeptiert",
  expired: "abgelaufen",
  stop: (sender) =>
    `Wenn Sie an diese Adresse keine Nachrichten von ${sender} mehr erhalten möchten, können Sie sich hier abmelden:`,
  changes: {
    rejected: (name) => `„${name}“ wurde nicht akzeptiert`,
    expired: (name) => `„${name}“ ist abgelaufen`,
    requested: (name) => `„${name}“ wird ebenfalls benötigt`,
  },
};
