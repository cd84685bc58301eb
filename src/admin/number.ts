const DECIMAL = /^\d+(\.\d+)?$/;

/** Parses a plain decimal number. Returns NaN for anything else; the service then says what it must be. */
export function numberIn(text: string): number {
  return DECIMAL.test(text) ? Number(text) : NaN;
}
