const BOUNDARY = "----part";
/** The headers of a request with a form. */
export const FORM = { "Content-Type": `multipart/form-data; boundary=${BOUNDARY}` };

/** What follows "Content-Disposition: form-data; ", further header lines included, and the value. */
export type Part = readonly [header: string, value: string];

/** A body of a form with these parts. */
export function form(...parts: readonly Part[]): string {
  const texts = parts.map(
    ([header, value]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${header}\r\n\r\n${value}\r\n`,
  );
  return `${texts.join("")}--${BOUNDARY}--\r\n`;
}
