import type { Refusal } from "./answer.ts";
import type { Failure } from "./model.ts";
import type { Trouble } from "./watch.ts";

export function troubleInWords(trouble: Trouble): string {
  return trouble.kind === "unreachable" ? "The service cannot be reached." : refusalInWords(trouble.refusal);
}

/** Returns what is wrong with a text that cannot be a key. fetch() would throw for it, as if the network were gone. */
export function faultOf(key: string): string | undefined {
  if (key === "") return "Paste a key.";
  return /^[\x21-\x7e]+$/.test(key) ? undefined : "A key has letters, digits and underscores only.";
}

export function whyNot(answer: Failure): string {
  if (answer.kind === "unreachable") return "The service cannot be reached. Check the network, then try again.";
  const { title, detail, retryAfter } = answer.refusal;
  return `${title}. ${detail}${answer.refusal.status === 429 && retryAfter !== undefined ? ` Wait ${retryAfter} s.` : ""}`;
}

export function refusalInWords({ title, detail }: Refusal): string {
  return `${title}. ${detail}`;
}
