import { Temporal } from "temporal-polyfill";

/** Names that registries outside of the service define. Each is taken in any letter case and kept in its proper one. */

/**
 * The IANA time zone of that name, in the letter case of the tz database; undefined for anything else, offsets such as
 * `+01:00` included. A link stays the link (`Asia/Kolkata` does not become `Asia/Calcutta`): what was sent comes back.
 */
export function timeZoneNamed(text: string): string | undefined {
  // Temporal takes whole timestamps and offsets for time zones as well; a name starts with a letter and has no colon.
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return undefined;
  return tried(() => Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(text).timeZoneId);
}

/** The canonical form of a BCP 47 language tag (`en-us` is `en-US`, `iw` is `he`); undefined for what is none. */
export function languageNamed(text: string): string | undefined {
  return tried(() => Intl.getCanonicalLocales(text)[0]);
}

function tried<T>(resolve: () => T): T | undefined {
  try {
    return resolve();
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}
