const DECIMAL = /^\d+(\.\d+)?$/;

/** Returns NaN if the text is not a plain decimal number. The service then answers what it must be. */
export function numberIn(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}
