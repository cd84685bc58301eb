/**
 * Returns the condition that a field of a filter equals a text. MongoDB treats it as the text itself. The stand-in of
 * development (src/dev/standin.ts) reads a bare text as "equal, or a list that contains it", for which it uses no index.
 */
export function equals<const T extends string>(text: T): { readonly $eq: T } {
  return { $eq: text };
}
