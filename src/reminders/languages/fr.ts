import type { Words } from "./en.ts";

// A no-break space (\u00a0) precedes : ? and », and follows «.

export const fr: Words = {
  language: "fr",
  pages: {
    documents: {
      title: (sender) => `Documents pour ${sender}`,
      file: (name) => `Fichier pour ${name}`,
      hint: (megabytes) => `Un fichier par document, ${megabytes}\u00a0Mo au plus. Une photo ou un PDF convient.`,
      send: "Envoyer",
      received: "Document reçu",
      others: (count) => `et ${count} de plus`,
      more: (count) =>
        count === 1
          ? "Un autre document est nécessaire. Vous le verrez ici après avoir envoyé ceux-ci."
          : `${count} autres documents sont nécessaires. Vous les verrez ici après avoir envoyé ceux-ci.`,
      arrived: (name) => `Nous avons bien reçu «\u00a0${name}\u00a0». Merci.`,
      all: "Nous avons tout reçu. Merci.",
    },
    upload: {
      noFile: "Choisissez d’abord un fichier. Il ne doit pas être vide.",
      tooLarge: (megabytes) => `Le fichier est trop volumineux. Il peut faire ${megabytes}\u00a0Mo au plus.`,
      filename: "Le nom du fichier est trop long. Renommez le fichier et envoyez-le de nouveau.",
      notNeeded: "Ce document n’est plus demandé.",
      incomplete: "Le fichier n’est pas arrivé en entier. Veuillez l’envoyer de nouveau.",
      failed: "Le fichier n’a pas pu être enregistré. Veuillez l’envoyer de nouveau.",
    },
    reference: {
      title: (person) => (person === null ? "Une référence" : `Une référence pour ${person}`),
      intro: (person, sender) =>
        `${person ?? "Une personne candidate"} a donné votre nom comme référence, et ${sender} aimerait avoir votre avis.`,
      can: "Pouvez-vous donner cette référence\u00a0?",
      yes: "Oui, continuer",
      no: "Non, je ne peux pas",
      questionsIntro: (sender) => `Répondez autant que possible. Vos réponses sont transmises à ${sender}.`,
      send: "Envoyer les réponses",
      received: "Nous avons bien reçu vos réponses.",
      declined: "Vous avez indiqué que vous ne pouvez pas donner cette référence.",
      empty: "Répondez au moins à une question.",
      tooLong: (characters) => `Vos réponses sont trop longues. Raccourcissez-les d’environ ${characters} caractères.`,
      incomplete: "Vos réponses ne sont pas arrivées en entier. Veuillez les envoyer de nouveau.",
      changed: "Les questions ont changé. Veuillez relire vos réponses et les envoyer de nouveau.",
      questions: [
        "Comment connaissez-vous cette personne, et depuis quand\u00a0?",
        "Quelles étaient ses tâches principales\u00a0?",
        "Que fait-elle particulièrement bien\u00a0?",
        "Que pourrait-elle encore améliorer\u00a0?",
        "Travailleriez-vous de nouveau avec cette personne\u00a0?",
      ],
    },
    stop: {
      title: "Ne plus recevoir ces messages",
      ask: (sender) => `Voulez-vous ne plus recevoir aucun message de ${sender} à cette adresse\u00a0?`,
      links: "Les liens que vous avez déjà permettent toujours d’envoyer des documents et des réponses.",
      button: "Ne plus recevoir ces messages",
      stopped: "Vous ne recevrez plus de messages",
      done: (sender, contact) =>
        `${sender} n’enverra plus de messages à cette adresse. Si c’est une erreur, contactez ${contact}.`,
    },
    thanks: "Merci",
    closed: {
      title: "Cette page ne sert plus",
      text: "Il n’y a plus rien à faire ici. Vous pouvez fermer cette page.",
    },
    unknown: {
      title: "Ce lien ne fonctionne pas",
      text: "Veuillez ouvrir le lien du dernier message. Si le message est ancien, vous n’avez peut-être plus rien à faire.",
    },
    tooMany: {
      title: "Veuillez patienter un instant",
      text: "Trop de demandes sont arrivées. Attendez une minute, puis rouvrez le lien de votre message. Si vous étiez en train d’envoyer quelque chose, nous ne l’avons pas reçu.",
    },
    broken: { title: "Un problème est survenu", text: "L’erreur vient de nous. Réessayez dans une minute." },
  },
  hello: (name) => (name === null ? "Bonjour," : `Bonjour ${name},`),
  documents: {
    subject: (sender) => `${sender} a besoin de documents de votre part`,
    ask: (sender, job) =>
      job === null
        ? `${sender} a besoin des documents suivants`
        : `Pour le poste «\u00a0${job}\u00a0», ${sender} a besoin des documents suivants`,
    open: "Vous pouvez les envoyer sur cette page, y compris depuis un téléphone\u00a0:",
    button: "Envoyer les documents",
  },
  reference: {
    ask: (person, sender) =>
      `${person ?? "Une personne candidate"} a donné votre nom comme référence. ${sender} souhaite vous poser quelques questions. Cela prend environ cinq minutes.`,
    open: "Répondez sur cette page, ou indiquez que vous ne pouvez pas répondre\u00a0:",
    button: "Donner une référence",
  },
  colon: "\u00a0:",
  reminder: "Rappel",
  optional: "si vous l’avez",
  rejected: "document non accepté",
  expired: "document expiré",
  stop: (sender) =>
    `Si vous ne voulez plus recevoir de messages de ${sender} à cette adresse, vous pouvez vous désabonner ici\u00a0:`,
  changes: {
    rejected: (name, reason) =>
      reason === null
        ? `«\u00a0${name}\u00a0» n’a pas été accepté.`
        : `«\u00a0${name}\u00a0» n’a pas été accepté\u00a0: ${reason}`,
    expired: (name) => `«\u00a0${name}\u00a0» a expiré.`,
    requested: (name) => `Il nous faut aussi «\u00a0${name}\u00a0».`,
  },
};
