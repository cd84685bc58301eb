import { esPages } from "./es-pages.ts";
import type { Words } from "./words.ts";

export const es: Words = {
  language: "es",
  pages: esPages,
  hello: ({ name }) => (name === null ? "Hola:" : `Hola, ${name}:`),
  documents: {
    subject: (sender, again) => `${again ? "Recordatorio: " : ""}${sender} necesita que envíe unos documentos`,
    ask: (sender, job) =>
      job === null
        ? `${sender} necesita que envíe estos documentos:`
        : `${sender} necesita que envíe estos documentos para el puesto «${job}»:`,
    open: "Puede enviarlos en esta página, también desde el teléfono:",
    button: "Enviar documentos",
  },
  reference: {
    subject: (person, again) =>
      `${again ? "Recordatorio: " : ""}Una referencia${person === null ? "" : ` sobre ${person}`}`,
    ask: (person, sender) =>
      `${person ?? "Una persona candidata"} ha facilitado su nombre como referencia. ${sender} quisiera hacerle algunas preguntas. Le llevará unos cinco minutos.`,
    open: "Puede responder en esta página, o indicar que no puede hacerlo:",
    button: "Dar una referencia",
  },
  optional: "si lo tiene",
  rejected: (reason) => (reason === null ? "no aceptado" : `no aceptado: ${reason}`),
  expired: "caducado",
  stop: (sender) => `Si no desea recibir más mensajes de ${sender} sobre esto, puede darse de baja aquí:`,
};
