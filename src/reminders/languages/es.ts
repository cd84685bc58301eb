import type { Words } from "./en.ts";

export const es: Words = {
  language: "es",
  pages: {
    documents: {
      title: (sender) => `Documentos para ${sender}`,
      file: (name) => `Archivo para ${name}`,
      hint: (megabytes) => `Un archivo por documento, de hasta ${megabytes}\u00a0MB. Sirve una foto o un PDF.`,
      send: "Enviar",
      received: "Recibido",
      others: (count) => `y ${count} más`,
      more: (count) =>
        count === 1
          ? "Hace falta un documento más. Lo verá aquí cuando haya enviado estos."
          : `Hacen falta ${count} documentos más. Los verá aquí cuando haya enviado estos.`,
      arrived: (name) => `Hemos recibido «${name}». Gracias.`,
      all: "Lo hemos recibido todo. Gracias.",
    },
    upload: {
      noFile: "Elija primero un archivo. No puede estar vacío.",
      tooLarge: (megabytes) => `El archivo es demasiado grande. Puede tener como máximo ${megabytes}\u00a0MB.`,
      filename: "El nombre del archivo es demasiado largo. Cámbielo y envíe el archivo otra vez.",
      notNeeded: "Este documento ya no hace falta.",
      incomplete: "El archivo no llegó completo. Envíelo otra vez, por favor.",
      failed: "No se pudo guardar el archivo. Envíelo otra vez, por favor.",
    },
    reference: {
      title: (person) => (person === null ? "Una referencia" : `Una referencia sobre ${person}`),
      intro: (person, sender) =>
        `${person ?? "Una persona candidata"} ha facilitado su nombre como referencia, y ${sender} quisiera conocer su opinión.`,
      can: "¿Puede dar esta referencia?",
      yes: "Sí, continuar",
      no: "No, no puedo",
      questionsIntro: (sender) => `Responda lo que pueda. Sus respuestas se envían a ${sender}.`,
      send: "Enviar las respuestas",
      received: "Hemos recibido sus respuestas.",
      declined: "Ha indicado que no puede dar esta referencia.",
      empty: "Responda al menos a una pregunta.",
      tooLong: (characters) => `Sus respuestas son demasiado largas. Acórtelas en unos ${characters} caracteres.`,
      incomplete: "Sus respuestas no llegaron completas. Envíelas otra vez, por favor.",
      changed: "Las preguntas han cambiado. Revise sus respuestas y envíelas otra vez, por favor.",
      questions: [
        "¿De qué conoce a esta persona, y desde cuándo?",
        "¿Cuáles eran sus tareas principales?",
        "¿Qué hace especialmente bien?",
        "¿Qué podría mejorar todavía?",
        "¿Volvería a trabajar con esta persona?",
      ],
    },
    stop: {
      title: "Dejar de recibir estos mensajes",
      ask: (sender) => `¿Desea dejar de recibir todos los mensajes de ${sender} en esta dirección?`,
      links: "Con los enlaces que ya tiene puede seguir enviando documentos y respuestas.",
      button: "Dejar de recibir mensajes",
      stopped: "Ya no recibirá mensajes",
      done: (sender, contact) =>
        `${sender} no enviará más mensajes a esta dirección. Si ha sido un error, póngase en contacto con ${contact}.`,
    },
    thanks: "Gracias",
    closed: {
      title: "Esta página ya no hace falta",
      text: "No queda nada por hacer aquí. Puede cerrar esta página.",
    },
    unknown: {
      title: "Este enlace no funciona",
      text: "Abra el enlace del último mensaje. Si el mensaje es antiguo, puede que ya no tenga que hacer nada.",
    },
    tooMany: {
      title: "Espere un momento",
      text: "Llegaron demasiadas solicitudes. Espere un minuto y vuelva a abrir el enlace de su mensaje. Si estaba enviando algo, no ha llegado.",
    },
    broken: { title: "Se ha producido un error", text: "El error es nuestro. Inténtelo de nuevo dentro de un minuto." },
  },
  hello: (name) => (name === null ? "Hola:" : `Hola, ${name}:`),
  documents: {
    subject: (sender) => `${sender} necesita que envíe unos documentos`,
    ask: (sender, job) =>
      job === null
        ? `${sender} necesita que envíe estos documentos`
        : `${sender} necesita que envíe estos documentos para el puesto «${job}»`,
    open: "Puede enviarlos en esta página, también desde el teléfono:",
    button: "Enviar documentos",
  },
  reference: {
    ask: (person, sender) =>
      `${person ?? "Una persona candidata"} ha facilitado su nombre como referencia. ${sender} quisiera hacerle algunas preguntas. Le llevará unos cinco minutos.`,
    open: "Puede responder en esta página, o indicar que no puede hacerlo:",
    button: "Dar una referencia",
  },
  colon: ":",
  reminder: "Recordatorio",
  optional: "si lo tiene",
  rejected: "no aceptado",
  expired: "caducado",
  stop: (sender) => `Si no desea recibir más mensajes de ${sender} en esta dirección, puede darse de baja aquí:`,
  changes: {
    rejected: (name, reason) =>
      reason === null ? `No se ha aceptado «${name}».` : `No se ha aceptado «${name}»: ${reason}`,
    expired: (name) => `«${name}» ha caducado.`,
    requested: (name) => `También se necesita «${name}».`,
  },
};
