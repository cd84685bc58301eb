import type { Words } from "./en.ts";

export const de: Words = {
  language: "de",
  pages: {
    documents: {
      title: (sender) => `Unterlagen für ${sender}`,
      file: (name) => `Datei für ${name}`,
      hint: (megabytes) => `Eine Datei pro Dokument, höchstens ${megabytes}\u00a0MB. Ein Foto oder ein PDF genügt.`,
      send: "Senden",
      received: "Erhalten",
      others: (count) => `und ${count} weitere`,
      more: (count) =>
        count === 1
          ? "Ein weiteres Dokument wird benötigt. Sie sehen es hier, sobald Sie diese gesendet haben."
          : `${count} weitere Dokumente werden benötigt. Sie sehen sie hier, sobald Sie diese gesendet haben.`,
      arrived: (name) => `Wir haben „${name}“ erhalten. Vielen Dank.`,
      all: "Wir haben alles erhalten. Vielen Dank.",
    },
    upload: {
      noFile: "Wählen Sie zuerst eine Datei aus. Sie darf nicht leer sein.",
      tooLarge: (megabytes) => `Die Datei ist zu groß. Sie darf höchstens ${megabytes}\u00a0MB haben.`,
      filename: "Der Name der Datei ist zu lang. Benennen Sie die Datei um, und senden Sie sie noch einmal.",
      notNeeded: "Dieses Dokument wird nicht mehr benötigt.",
      incomplete: "Die Datei ist nicht vollständig angekommen. Bitte senden Sie sie noch einmal.",
      failed: "Die Datei konnte nicht gespeichert werden. Bitte senden Sie sie noch einmal.",
    },
    reference: {
      title: (person) => (person === null ? "Eine Referenz" : `Eine Referenz für ${person}`),
      intro: (person, sender) =>
        `${person ?? "Eine Person, die sich bewirbt,"} hat Sie als Referenz genannt, und ${sender} möchte gern von Ihnen hören.`,
      can: "Können Sie diese Referenz geben?",
      yes: "Ja, weiter",
      no: "Nein, das kann ich nicht",
      questionsIntro: (sender) => `Antworten Sie, so gut Sie können. Ihre Antworten gehen an ${sender}.`,
      send: "Antworten senden",
      received: "Wir haben Ihre Antworten erhalten.",
      declined: "Sie haben angegeben, dass Sie diese Referenz nicht geben können.",
      empty: "Beantworten Sie mindestens eine Frage.",
      tooLong: (characters) => `Ihre Antworten sind zu lang. Kürzen Sie sie um etwa ${characters} Zeichen.`,
      incomplete: "Ihre Antworten sind nicht vollständig angekommen. Bitte senden Sie sie noch einmal.",
      changed: "Die Fragen haben sich geändert. Bitte sehen Sie Ihre Antworten durch, und senden Sie sie noch einmal.",
      questions: [
        "Woher kennen Sie diese Person, und wie lange schon?",
        "Was waren ihre wichtigsten Aufgaben?",
        "Was macht sie besonders gut?",
        "Was könnte sie noch verbessern?",
        "Würden Sie wieder mit dieser Person zusammenarbeiten?",
      ],
    },
    stop: {
      title: "Nachrichten abbestellen",
      ask: (sender) => `Möchten Sie an diese Adresse gar keine Nachrichten von ${sender} mehr erhalten?`,
      links: "Über die Links, die Sie schon haben, können Sie weiterhin Dokumente und Antworten senden.",
      button: "Nachrichten abbestellen",
      stopped: "Die Nachrichten sind abbestellt",
      done: (sender, contact) =>
        `${sender} schickt keine Nachrichten mehr an diese Adresse. Wenn das ein Versehen war, melden Sie sich bei ${contact}.`,
    },
    thanks: "Vielen Dank",
    closed: {
      title: "Diese Seite wird nicht mehr benötigt",
      text: "Hier ist nichts mehr zu tun. Sie können diese Seite schließen.",
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
    subject: (sender) => `${sender} benötigt Unterlagen von Ihnen`,
    ask: (sender, job) =>
      job === null
        ? `${sender} benötigt folgende Unterlagen von Ihnen`
        : `${sender} benötigt für die Stelle „${job}“ folgende Unterlagen von Ihnen`,
    open: "Senden Sie sie über diese Seite. Das geht auch mit dem Smartphone:",
    button: "Unterlagen senden",
  },
  reference: {
    ask: (person, sender) =>
      `${person ?? "Eine Person, die sich bewirbt,"} hat Sie als Referenz genannt. ${sender} möchte Ihnen ein paar Fragen stellen. Das dauert etwa fünf Minuten.`,
    open: "Auf dieser Seite können Sie die Fragen beantworten oder absagen:",
    button: "Referenz geben",
  },
  colon: ":",
  reminder: "Erinnerung",
  optional: "falls vorhanden",
  rejected: "nicht akzeptiert",
  expired: "abgelaufen",
  stop: (sender) =>
    `Wenn Sie an diese Adresse keine weiteren Nachrichten von ${sender} erhalten möchten, können Sie sie hier abbestellen:`,
  changes: {
    rejected: (name, reason) =>
      reason === null ? `„${name}“ wurde nicht akzeptiert.` : `„${name}“ wurde nicht akzeptiert: ${reason}`,
    expired: (name) => `„${name}“ ist abgelaufen.`,
    requested: (name) => `„${name}“ wird ebenfalls benötigt.`,
  },
};
