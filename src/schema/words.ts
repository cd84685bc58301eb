type Words<Text extends string> = Text extends `${infer First} ${infer Rest}` ? [First, ...Words<Rest>] : [Text];

/** Returns the words of a text. Their type lists them too. */
export function words<Text extends string>(text: Text): Readonly<Words<Text>>;
export function words(text: string): readonly string[] {
  return text.split(" ");
}
