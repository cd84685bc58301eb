import validator from "validator";

/** Longest address: RFC 5321 allows a path of 256 octets, with its brackets. */
export const MAX_EMAIL = 254;

/**
 * Returns whether a text is an email address (addr-spec of RFC 5322), possibly an internationalised one (RFC 6531). Its
 * domain must have a dot.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL && validator.isEmail(text);
}
