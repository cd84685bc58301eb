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

/** What a request without the header takes. A client that does not mention compression may not know it. */
const ABSENT = { accept: "*/*", "accept-language": "*", "accept-encoding": "identity" };

/**
 * Returns what a header takes of `available`, the best first (RFC 9110, 12.5). Equal ones stay in the order of `available`.
 * A header of more than 1,000 characters counts as absent.
 */
export function negotiate<Item extends string>(
  header: keyof typeof ABSENT,
  value: string | undefined,
  available: readonly Item[],
): Item[] {
  const given = value === undefined || value.length > MAX_LENGTH ? ABSENT[header] : value;
  const negotiator = new Negotiator({ headers: { [header]: given } });
  const names: string[] = [...available];
  const taken = {
    accept: () => negotiator.mediaTypes(names),
    "accept-language": () => negotiator.languages(names),
    "accept-encoding": () => (negotiator as Preferring).encodings(names, { preferred: names }),
  };
  return taken[header]() as Item[];
}

/** Returns the codings that Accept-Encoding takes, the best first; identity if it takes none: the response is sent as it is. */
export function codingsFor(header: string | undefined): [Coding, ...Coding[]] {
  const [best = "identity", ...others] = negotiate("accept-encoding", header, CODINGS);
  return [best, ...others];
}
