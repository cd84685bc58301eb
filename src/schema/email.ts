import validator from "validator";

/** Longest address: RFC 5321 allows a path of 256 octets, with its brackets. */
export const MAX_EMAIL = 254;

/** What would end an SMTP command or the address in it, and what nobody sees. A quoted local part could have all of it. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]/u;

/**
 * Returns whether a text is an email address (addr-spec of RFC 5322), possibly an internationalised one (RFC 6531), that
 * SMTP carries as it is. Its domain must have a dot.
 */
export function isEmailAddress(text: string): boolean {
  return text.length <= MAX_EMAIL && !FORBIDDEN.test(text) && validator.isEmail(text);
}
