import { Temporal } from "temporal-polyfill";

/** Names from external registries. Any letter case is accepted; the canonical case is stored. */

/** Maximum length of a name. The longest time zone has 32 characters; tags of 35 are long (RFC 5646, 4.4.1). */
const MAX_NAME = 100;

/**
 * Returns the name of an IANA time zone in the letter case of the tz database. Undefined for anything else, including
 * offsets such as `+01:00`. An alias is kept (`Asia/Kolkata` does not become `Asia/Calcutta`), so a client reads back
 * what it sent.
 */
export function timeZoneNamed(text: string): string | undefined {
  // Temporal also accepts timestamps and offsets as time zones. A zone's name starts with a letter and has no colon.
  if (text.length > MAX_NAME || !/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return undefined;
  return valueOrUndefined(() => Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId);
}

/** Returns the canonical form of a BCP 47 language tag (`en-US` for `en-us`, `he` for `iw`), or undefined. */
export function languageNamed(text: string): string | undefined {
  return text.length > MAX_NAME ? undefined : valueOrUndefined(() => Intl.getCanonicalLocales(text)[0]);
}

function valueOrUndefined<T>(resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
