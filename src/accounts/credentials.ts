import type { Refusal } from "../problems.ts";
import { keyInvalid, keyMissing } from "./refusals.ts";

/** The two headers that may have the key, unchanged, and the address of the client. */
export interface Credentials {
  readonly authorization: string | undefined;
  readonly apiKey: string | undefined;
  /** Returns the client's IP address. X-Forwarded-For is believed for TRUSTED_PROXIES hops. */
  readonly address: () => string;
}

const HOW_TO_SEND = "Send it as `Authorization: Bearer <API_KEY>` or as `X-API-Key: <API_KEY>`";

/**
 * Returns the key of a request. If X-API-Key is present, an Authorization header of another scheme is ignored: it may be
 * meant for a gateway.
 * @returns the key, in any format; or a refusal: `api_key_missing`, or `api_key_invalid` for two different keys. A refusal
 * never repeats what the client sent.
 */
export function presentedKey({
  authorization = "",
  apiKey = "",
}: Pick<Credentials, "authorization" | "apiKey">): string | Refusal {
  const bearer = /^bearer(?: +(.*))?$/i.exec(authorization);
  const token = bearer?.[1] ?? "";
  if (token !== "" && apiKey !== "" && token !== apiKey) {
    return keyInvalid("Authorization and X-API-Key contain different keys. Send only one of them.");
  }
  const key = token === "" ? apiKey : token;
  return key === "" ? keyMissing(whyMissing(authorization, bearer !== null)) : key;
}

function whyMissing(authorization: string, isBearer: boolean): string {
  if (isBearer) return `The Authorization header has no API key after Bearer. ${HOW_TO_SEND}.`;
  if (authorization !== "") return `The Authorization header must begin with Bearer and a space. ${HOW_TO_SEND}.`;
  return `The request has no API key. ${HOW_TO_SEND}.`;
}
