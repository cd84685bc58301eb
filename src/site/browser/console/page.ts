/** A page of the app. Its address is the fragment of the URL, so the back button works and the server sees none of it. */
export type Page =
  { readonly kind: "limits" | "candidates" | "webhooks" } | { readonly kind: "candidate"; readonly id: string };

/** Returns the page of a fragment; the page of limits if it names none. */
export function pageOf(fragment: string): Page {
  const [, first, second] = fragment.split("/");
  if (first !== "candidates") return { kind: first === "webhooks" ? first : "limits" };
  if (second === undefined || second === "") return { kind: "candidates" };
  return { kind: "candidate", id: decoded(second) };
}

export function addressOf(page: Page): string {
  return page.kind === "candidate" ? `#/candidates/${encodeURIComponent(page.id)}` : `#/${page.kind}`;
}

/** A fragment that somebody typed may not be valid percent-encoding. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
