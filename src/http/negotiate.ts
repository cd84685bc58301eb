import Negotiator from "negotiator";

/** Maximum length of a header that is read, in characters. Browsers send 150. A header of 16 KiB takes up to 5 ms. */
const MAX_LENGTH = 1_000;

/** Content codings (RFC 9110, 8.4.1), the preferred first: at level 1, Brotli makes fewer bytes than gzip in half the time. */
const CODINGS = ["br", "gzip", "identity"] as const;
export type Coding = (typeof CODINGS)[number];

/** `preferred` decides between codings that a header likes equally. The types of the package do not know it. */
interface Preferring {
  encodings(available: readonly string[], options: { preferred: readonly string[] }): string[];
}

/** The reader of each header, and its value if it is absent. */
const HEADERS = {
  accept: { read: (negotiator: Negotiator, available: string[]) => negotiator.mediaTypes(available), absent: "*/*" },
  "accept-language": {
    read: (negotiator: Negotiator, available: string[]) => negotiator.languages(available),
    absent: "*",
  },
  "accept-encoding": {
    read: (negotiator: Negotiator, available: string[]) =>
      (negotiator as Preferring).encodings(available, { preferred: available }),
    absent: "identity",
  },
} as const;

/**
 * Returns what a header takes of `available`, the best first (RFC 9110, 12.5). Equal ones stay in the order of `available`.
 * A header of more than 1,000 characters is ignored. Without Accept or Accept-Language everything is taken; without
 * Accept-Encoding only identity: a client that does not mention compression may not know it.
 * @param value undefined if the request does not have the header.
 */
export function negotiate<Item extends string>(
  header: keyof typeof HEADERS,
  value: string | undefined,
  available: readonly Item[],
): Item[] {
  const { read, absent } = HEADERS[header];
  const given = value === undefined || value.length > MAX_LENGTH ? absent : value;
  return read(new Negotiator({ headers: { [header]: given } }), [...available]) as Item[];
}

/**
 * Returns the codings that an Accept-Encoding header takes, the best first. If it takes none of ours, returns identity: the
 * response is then sent as it is.
 */
export function codingsFor(header: string | undefined): [Coding, ...Coding[]] {
  const [best = "identity", ...others] = negotiate("accept-encoding", header, CODINGS);
  return [best, ...others];
}
