import { wellFormed } from "./key.ts";
import { keyInvalid, keyMissing } from "./refusals.ts";

/** What a request says of who sends it: its two headers as they came, and the address it came from. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** The client's IP address, as far as the proxies in front are trusted. */
  readonly address: string;
}

const HOW = "Send it as `Authorization: Bearer <API_KEY>` or as `X-API-Key: <API_KEY>`";

/**
 * The well-formed key that a request presents, before any look-up. An Authorization of another scheme is a gateway's business
 * when X-API-Key is there. What was given is never repeated in a problem.
 * @throws problem `api_key_missing`, or `api_key_invalid` for two different keys or a key that cannot be one.
 */
export function presentedKey({
  authorization = "",
  apiKey = "",
}: Pick<Credentials, "authorization" | "apiKey">): string {
  const bearer = /^bearer(?: +(.*))?$/i.exec(authorization);
  const token = bearer?.[1] ?? "";
  if (token !== "" && apiKey !== "" && token !== apiKey) {
    throw keyInvalid("Authorization and X-API-Key hold different keys. Send one of them.");
  }
  const key = token === "" ? apiKey : token;
  if (key === "") throw keyMissing(whyMissing(authorization, bearer !== null));
  if (!wellFormed(key)) {
    throw keyInvalid(
      "The API key is not written as one: a part of it is missing, mistyped or too much. Copy it again, whole.",
    );
  }
  return key;
}

function whyMissing(authorization: string, isBearer: boolean): string {
  if (isBearer) return `The Authorization header has no API key after Bearer. ${HOW}.`;
  if (authorization !== "") return `The Authorization header must begin with Bearer and a space. ${HOW}.`;
  return `The request has no API key. ${HOW}.`;
}
