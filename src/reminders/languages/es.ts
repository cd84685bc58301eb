import type { Words } from "./en.ts";

export const es: Words = {
  language: "es",
  pages: {
    error: "Error",
    documents: {
      title: (sender) => `Documentos para ${sender}`,
      hint: "Envíe un archivo por documento. Sirve una foto o un PDF.",
      limit: (size) => `Hasta ${size}`,
      send: "Enviar",
      received: "Recibido",
      replace: "Enviar otro archivo en su lugar",
      more: (count) => `${count} más por enviar. El resto aparecerá aquí cuando haya enviado los documentos de arriba.`,
      which: (n, count, date) => `${n} de ${count}, solicitado el ${date}`,
      arrived: (name, file) => `Hemos recibido «${name}»${file && ` (${file})`}. Gracias.`,
      all: "Lo hemos recibido todo. Gracias.",
    },
    upload: {
      noFile: "Elija primero un archivo. No puede estar vacío.",
      tooLarge: (size) => `El archivo es demasiado grande. Puede ocupar como máximo ${size}.`,
      program: "No se admiten programas, scripts ni páginas web. Envíe, por ejemplo, un PDF o una foto, por favor.",
      filename: "El nombre del archivo es demasiado largo. Cambie el nombre y envíe el archivo otra vez.",
      notNeeded: "El archivo no se ha guardado. Este documento ya no hace falta, o ya ha llegado otro archivo.",
      incomplete: "El archivo no llegó completo. Envíelo otra vez, por favor.",
      failed: "No se pudo guardar el archivo. Envíelo otra vez, por favor.",
    },
    reference: {
      title: (person) => (person === null ? "Una referencia" : `Una referencia sobre ${person}`),
      can: "¿Puede dar esta referencia?",
      yes: "Sí, continuar",
      no: "No, no puedo",
      sure: (sender) => `¿Desea comunicar a ${sender} que no puede dar esta referencia?`,
      decline: "No puedo dar esta referencia",
      back: "Volver",
      questionsIntro: (sender) => `Responda lo que pueda. Sus respuestas se envían a ${sender}.`,
      send: "Enviar las respuestas",
      received: "Hemos recibido sus respuestas.",
      declined: "Ha indicado que no puede dar esta referencia.",
      takeBack: "Al final sí puedo dar esta referencia",
      empty: "Responda al menos a una pregunta.",
      limit: (count) => `Hasta ${count} caracteres`,
      tooLong: "Al menos una respuesta es demasiado larga. Acorte lo que está marcado y envíe todo otra vez.",
      excess: "Caracteres de más",
      incomplete: "Sus respuestas no llegaron completas. Envíelas otra vez, por favor.",
      changed: "Las preguntas han cambiado. Revise sus respuestas y envíelas otra vez, por favor.",
      unsent: "Este texto no se ha enviado. Puede copiarlo aquí.",
      answer: (n) => `Respuesta ${n}`,
      questions: [
        "¿De qué conoce a esta persona, y desde cuándo?",
        "¿Cuáles eran las tareas principales de esta persona?",
        "¿Qué hace especialmente bien esta persona?",
        "¿Qué podría mejorar todavía esta persona?",
        "¿Volvería a trabajar con esta persona?",
      ],
    },
    stop: {
      title: "Dejar de recibir estos mensajes",
      ask: (sender) => `¿Desea dejar de recibir todos los mensajes de ${sender} en esta dirección?`,
      links: "Con los enlaces que ya tiene puede seguir enviando documentos y respuestas.",
      stopped: "Ya no recibirá mensajes",
      done: (sender, contact) =>
        `${sender} no enviará más mensajes a esta dirección. Si ha sido un error, póngase en contacto con ${contact}.`,
    },
    why: {
      candidate: (sender) => `Le escribimos en nombre de ${sender}, porque hacen falta documentos de su parte.`,
      referee: (person, sender) =>
        `Le escribimos en nombre de ${sender}, porque ${person ?? "una persona candidata"} ha facilitado su nombre como referencia.`,
    },
    until: (date) => `Este enlace funciona hasta el ${date}.`,
    questions: (contact) => `¿Tiene preguntas? Póngase en contacto con ${contact}.`,
    thanks: "Gracias",
    closed: {
      title: "Esta página ya no hace falta",
      text: "No queda nada por hacer aquí. Puede cerrar esta página.",
    },
    expired: {
      title: "Este enlace ha caducado",
      text: (contact) =>
        `Si todavía hace falta algo de su parte, el último mensaje contiene un enlace nuevo. Si no tiene un mensaje más reciente, póngase en contacto con ${contact}.`,
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
    subject: (sender, count) => `${sender} necesita que envíe ${count === 1 ? "un documento" : "unos documentos"}`,
    ask: (sender, job, count) =>
      `${sender} necesita que envíe ${count === 1 ? "este documento" : "estos documentos"}${job === null ? "" : ` para el puesto «${job}»`}`,
    open: "Puede enviar documentos en esta página, también desde el teléfono:",
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
    rejected: (name) => `No se ha aceptado «${name}»`,
    expired: (name) => `«${name}» ha caducado`,
    requested: (name) => `También se necesita «${name}»`,
  },
};
