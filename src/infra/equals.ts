/** Returns the condition that a field equals a text. For a bare text, the stand-in (src/dev/mongo.ts) uses no index. */
export function equals<const T extends string>(text: T): { readonly $eq: T } {
  return { $eq: text };
}
