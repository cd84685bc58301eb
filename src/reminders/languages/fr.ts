import type { Words } from "./en.ts";

// A no-break space (\u00a0) precedes : ? and », and follows «.

export const fr: Words = {
  language: "fr",
  pages: {
    error: "Erreur",
    documents: {
      title: (sender) => `Documents pour ${sender}`,
      hint: "Envoyez un fichier par document. Une photo ou un PDF convient.",
      limit: (size) => `${size} au plus`,
      send: "Envoyer",
      received: "Document reçu",
      replace: "Envoyer un autre fichier à la place",
      more: (count) =>
        `Encore ${count} à envoyer. Le reste s’affichera ici quand vous aurez envoyé les documents ci-dessus.`,
      which: (n, count, date) => `${n} sur ${count}, demandé le ${date}`,
      arrived: (name, file) => `Nous avons bien reçu «\u00a0${name}\u00a0»${file && ` (${file})`}. Merci.`,
      all: "Nous avons tout reçu. Merci.",
    },
    upload: {
      noFile: "Choisissez d’abord un fichier. Il ne doit pas être vide.",
      tooLarge: (size) => `Le fichier est trop volumineux. Il peut faire ${size} au plus.`,
      program:
        "Les programmes, scripts et pages web ne sont pas acceptés. Veuillez envoyer un PDF ou une photo, par exemple.",
      filename: "Le nom du fichier est trop long. Renommez le fichier et envoyez-le de nouveau.",
      notNeeded:
        "Le fichier n’a pas été enregistré. Ce document n’est plus demandé, ou un autre fichier est déjà arrivé.",
      incomplete: "Tout n’est pas arrivé. Veuillez tout envoyer de nouveau.",
      failed: "Le fichier n’a pas pu être enregistré. Veuillez l’envoyer de nouveau.",
    },
    reference: {
      title: (person) => (person === null ? "Une référence" : `Une référence pour ${person}`),
      can: "Pouvez-vous donner cette référence\u00a0?",
      yes: "Oui, continuer",
      no: "Non, je ne peux pas",
      sure: (sender) => `Voulez-vous informer ${sender} que vous ne pouvez pas donner cette référence\u00a0?`,
      decline: "Oui, je décline",
      back: "Retour",
      questionsIntro: (sender) => `Répondez autant que possible. Vos réponses sont transmises à ${sender}.`,
      received: "Nous avons bien reçu vos réponses.",
      declined: "Vous avez indiqué que vous ne pouvez pas donner cette référence.",
      takeBack: "Je peux finalement donner cette référence",
      empty: "Répondez au moins à une question.",
      limit: (count) => `${count} caractères au plus`,
      tooLong: "Au moins une réponse est trop longue. Raccourcissez ce qui est signalé, puis envoyez tout de nouveau.",
      excess: "Caractères en trop",
      changed: "Les questions ont changé. Veuillez relire vos réponses et les envoyer de nouveau.",
      unsent: "Ce texte n’a pas été envoyé. Vous pouvez le copier ici.",
      answer: (n) => `Réponse ${n}`,
      questions: [
        "Comment connaissez-vous cette personne, et depuis quand\u00a0?",
        "Quelles étaient les tâches principales de cette personne\u00a0?",
        "Qu’est-ce que cette personne fait particulièrement bien\u00a0?",
        "Qu’est-ce que cette personne pourrait encore améliorer\u00a0?",
        "Travailleriez-vous de nouveau avec cette personne\u00a0?",
      ],
    },
    stop: {
      title: "Ne plus recevoir ces messages",
      ask: (sender) => `Voulez-vous ne plus recevoir aucun message de ${sender} à cette adresse\u00a0?`,
      links: "Les liens que vous avez déjà permettent toujours d’envoyer des documents et des réponses.",
      stopped: "Vous ne recevrez plus de messages",
      done: (sender) => `${sender} n’enverra plus de messages à cette adresse.`,
    },
    behalf: (sender) => `Nous vous écrivons pour le compte de ${sender}.`,
    until: (date) => `Ce lien fonctionne jusqu’au ${date}.`,
    questions: (contact) => `Vous avez des questions\u00a0? Contactez ${contact}.`,
    thanks: "Merci",
    closed: {
      title: "Cette page ne sert plus",
      text: "Il n’y a plus rien à faire ici. Vous pouvez fermer cette page.",
    },
    expired: {
      title: "Ce lien a expiré",
      text: "Si l’on attend encore quelque chose de vous, le dernier message contient un nouveau lien.",
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
    needed: "Des documents de votre part sont nécessaires.",
    subject: (sender, count) => `${sender} a besoin ${count === 1 ? "d’un document" : "de documents"} de votre part`,
    ask: (sender, job, count) =>
      `${job === null ? "" : `Pour le poste «\u00a0${job}\u00a0», `}${sender} a besoin ${count === 1 ? "du document suivant" : "des documents suivants"}`,
    open: "Vous pouvez envoyer des documents sur cette page, y compris depuis un téléphone\u00a0:",
    button: "Envoyer les documents",
  },
  reference: {
    named: (person) => `${person ?? "Une personne candidate"} a donné votre nom comme référence.`,
    ask: (sender) => `${sender} souhaite vous poser quelques questions. Cela prend environ cinq minutes.`,
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
    rejected: (name) => `«\u00a0${name}\u00a0» n’a pas été accepté`,
    expired: (name) => `«\u00a0${name}\u00a0» a expiré`,
    requested: (name) => `Il nous faut aussi «\u00a0${name}\u00a0»`,
  },
};
