import { getDocumentProxy } from "unpdf";

/** An element of a PDF's structure tree, as a screen reader meets it. */
export interface Element {
  /** For example H1, TH or LBody (ISO 32000-1, 14.8.4). */
  readonly role: string;
  /** All text in it. */
  readonly text: string;
  readonly inside: readonly Element[];
}

type Page = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>["getPage"]>>;
type Node = Awaited<ReturnType<Page["getStructTree"]>>;

/** Returns the structure tree of each page, with pdf.js. @throws if the PDF is not tagged. */
export async function readStructure(bytes: Uint8Array): Promise<Element[]> {
  const pdf = await getDocumentProxy(Uint8Array.from(bytes));
  const pages: Element[] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const tree = (await page.getStructTree()) as Node | null;
    if (tree === null) throw new Error("The PDF is not tagged.");
    pages.push(elementOf(tree, await markedTexts(page)));
  }
  await pdf.destroy();
  return pages;
}

/** Returns the elements of some roles, in the order of reading. */
export function elements(within: readonly Element[], ...roles: string[]): Element[] {
  return within.flatMap((element) => [
    ...(roles.includes(element.role) ? [element] : []),
    ...elements(element.inside, ...roles),
  ]);
}

/** The text of each marked part of a page, by the part's id. */
async function markedTexts(page: Page): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  const open: string[] = [];
  for (const item of (await page.getTextContent({ includeMarkedContent: true })).items) {
    if ("str" in item) {
      const id = open.findLast((part) => part !== "");
      if (id !== undefined) texts.set(id, `${texts.get(id) ?? ""}${item.str}`);
    } else if (item.type === "endMarkedContent") open.pop();
    else open.push(item.id ?? "");
  }
  return texts;
}

function elementOf(node: Node, texts: Map<string, string>): Element {
  const inside: Element[] = [];
  let text = "";
  for (const child of node.children) {
    if ("role" in child) {
      const element = elementOf(child, texts);
      inside.push(element);
      text += element.text;
    } else text += texts.get(child.id) ?? "";
  }
  return { role: node.role, text: text.replaceAll("\u200B", "").trim(), inside };
}
