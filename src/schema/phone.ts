import parsePhoneNumber, { ParseError, type PhoneNumber, parsePhoneNumberWithError } from "libphonenumber-js/min";

/** Maximum length of a text that is read as a phone number. */
const MAX_PHONE = 50;

/** Characters between two numbers. */
const SEPARATOR = /[/\\|;,]/;

/** ITU-T E.164: at most 15 digits, the first of which is not 0. */
const E164 = /^\+[1-9]\d{1,14}$/;

/**
 * Returns a phone number as E.164 (`+14155550123`), however a person wrote it: with brackets, spaces, dots or dashes.
 * Returns the text as it is if it names no number for certain: without a country code, with an extension, or two numbers.
 */
export function phoneOf(text: string): string {
  if (E164.test(text)) return text; // also numbers that are newer than the library's list
  const plain = plainOf(text);
  if (!plain.startsWith("+") || isTwoNumbers(plain)) return text;
  const parsed = parsedFrom(plain);
  return parsed === undefined || parsed.ext !== undefined || !parsed.isPossible() ? text : parsed.number;
}

export function isPhone(text: string): boolean {
  return E164.test(text);
}

/** Returns what to send instead of a text that is no phone number: the end of a sentence that begins with "must". */
export function phoneFault(text: string): string {
  if (text.length > MAX_PHONE) return `have at most ${MAX_PHONE} characters, for example +14155550123`;
  const plain = plainOf(text);
  if (!plain.startsWith("+")) return "start with + and the country code, for example +14155550123";
  try {
    if (parsePhoneNumberWithError(plain, { extract: false }).ext !== undefined)
      return "be a phone number without an extension, for example +14155550123";
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    if (error.message === "INVALID_COUNTRY")
      return "begin with an existing country code, for example +14155550123 or +4930123456";
  }
  if (isTwoNumbers(plain)) return "be one phone number only, for example +14155550123";
  return "be a single phone number in digits with its country code, for example +14155550123";
}

/**
 * Returns whether a second number follows the first. 00 may begin one, as in 0043, or be part of the first:
 * `+1 212 555 0012`. So the text before it must be a number. The text after it must be one too, or have the same country
 * code.
 */
function isTwoNumbers(plain: string): boolean {
  if (SEPARATOR.test(plain)) return true;
  return Array.from(plain.matchAll(/\D00(?=\d)/g)).some(({ index }) => {
    const first = parsedFrom(plain.slice(0, index));
    const second = parsedFrom(`+${plain.slice(index).replaceAll(/\D/g, "").slice(2)}`);
    if (first === undefined || second === undefined || !first.isValid()) return false;
    return second.isPossible() || second.countryCallingCode === first.countryCallingCode;
  });
}

function parsedFrom(text: string): PhoneNumber | undefined {
  return parsePhoneNumber(text, { extract: false });
}

/** Returns the text with ordinary digits, signs and spaces, and without the scheme of a telephone link (RFC 3966). */
function plainOf(text: string): string {
  if (text.length > MAX_PHONE) return "";
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Cf}/gu, "") // invisible marks around numbers that were copied from a right-to-left text
    .replaceAll(/\s+/g, " ") // the library knows no tabs
    .trim()
    .replace(/^tel:/i, "");
}
