import validator from "validator";

/** Maximum length of an address. RFC 5321 limits a path to 256 octets, brackets included. */
export const MAX_EMAIL = 254;

/** Characters that would end an SMTP command or the address in it, and invisible ones. A quoted local part could have them. */
const FORBIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]/u;

/**
 * Returns whether a text is an email address (addr-spec of RFC 5322), possibly an internationalised one (RFC 6531), that
 * SMTP carries as it is. Its domain must have a dot. Its local part may have dots that RFC 5322 allows only in quotes, as
 * addresses of Japanese mobile carriers do (`taro..@docomo.ne.jp`): nodemailer adds the quotes.
 */
export function isEmailAddress(text: string): boolean {
  if (text.length > MAX_EMAIL || FORBIDDEN.test(text)) return false;
  const at = text.lastIndexOf("@");
  return validator.isEmail(text.slice(0, at).replaceAll(".", "-") + text.slice(at));
}
