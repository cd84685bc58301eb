import Type from "typebox";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*"';
const SOURCE = `^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`;
const MEDIA_TYPE = new RegExp(SOURCE);
const MAX_LENGTH = 255;

/** A media type with its parameters (RFC 9110, 8.3.1). Printable ASCII and tabs only, so it is safe in a header. */
export const MediaType = Type.String({
  minLength: 1,
  maxLength: MAX_LENGTH,
  pattern: SOURCE,
  "x-must-be": "a media type, for example application/pdf",
});

export function isMediaType(text: string): boolean {
  return text.length <= MAX_LENGTH && MEDIA_TYPE.test(text);
}
