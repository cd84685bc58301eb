import GithubSlugger from "github-slugger";
import hljs from "highlight.js/lib/common";
import { Marked, type Tokens } from "marked";
import type { Document, Heading } from "./document.ts";
import { escaped, type Html, html, raw } from "../../schema/html.ts";
import { caution, heading, table } from "./parts.ts";
import { exampleOf } from "./quick-start.ts";

export interface Options {
  /** True if each block of `sh` gets a button that sends its request. */
  readonly runnable?: boolean;
  /** What stands for a comment such as `<!-- problems -->`, by the text of the comment. */
  readonly inserts?: Readonly<Record<string, Html>>;
}

/**
 * Renders a page of Markdown. Its first line is `# Title`; the paragraph that follows is its lead.
 * @param slug the last part of the page's path.
 * @throws if the text does not begin so.
 */
export function fromMarkdown(slug: string, text: string, { runnable = false, inserts = {} }: Options = {}): Document {
  const headings: Heading[] = [];
  const slugger = new GithubSlugger();
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, depth, text: source }: Tokens.Heading) {
        const id = slugger.slug(plain(source));
        headings.push({ id, text: plain(source), level: depth });
        return `${heading(depth, id, raw(this.parser.parseInline(tokens))).text}\n`;
      },
      code: ({ text: code, lang = "" }) =>
        (runnable && lang.startsWith("sh") ? runnableBlock(code, lang) : codeBlock(code, lang)).text,
      // GitHub shows it as a red box too.
      blockquote({ tokens }: Tokens.Blockquote) {
        return caution(raw(this.parser.parse(tokens).replace("[!CAUTION]\n", ""))).text;
      },
      html({ text: source }) {
        const [, name = ""] = /^<!-- (.*) -->\s*$/.exec(source) ?? [];
        return inserts[name]?.text ?? source;
      },
      link({ href, tokens }: Tokens.Link) {
        return `<a href="${escaped(linkTarget(href))}">${this.parser.parseInline(tokens)}</a>`;
      },
      table({ header, rows }: Tokens.Table) {
        const cells = (row: readonly Tokens.TableCell[]) =>
          row.map(({ tokens }) => raw(this.parser.parseInline(tokens)));
        return table("Table", cells(header), rows.map(cells)).text;
      },
    },
  });
  const [title, lead, ...body] = marked.lexer(text).filter(({ type }) => type !== "space");
  if (title?.type !== "heading" || lead?.type !== "paragraph")
    throw new Error(`${slug}: a page begins with "# Title" and a paragraph.`);
  const textOf = (token: Tokens.Generic) => plain(String(token["text"]));
  return { slug, title: textOf(title), lead: textOf(lead), body: raw(marked.parser(body)), headings };
}

/** Returns a block of code, highlighted if its language is known. */
export function codeBlock(code: string, lang: string): Html {
  return raw(`<div class="code">${highlighted(code, lang)}</div>\n`);
}

/** Returns an example in JSON that the reader opens. */
export function jsonExample(summary: string, value: unknown): Html {
  return html`<details>
    <summary>${summary}</summary>
    ${codeBlock(JSON.stringify(value, null, 2), "json")}
  </details>`;
}

/** A block of shell whose request can be sent by a click. browser/quick-start.ts adds the button and shows the response. */
function runnableBlock(code: string, lang: string): Html {
  const example = escaped(JSON.stringify(exampleOf(code, lang)));
  return raw(`<div class="code runnable" data-example="${example}">${highlighted(code, lang)}</div>\n`);
}

function highlighted(code: string, lang: string): string {
  const [language = ""] = lang.split(/\s/);
  const text = hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : escaped(code);
  return `<pre tabindex="0"><code>${text}</code></pre>`;
}

/** Texts of the contract are Markdown without HTML: `<key>` in them is text. */
const INLINE = new Marked({ renderer: { html: ({ text }) => escaped(text) } });

export function inline(text: string): Html {
  return raw(INLINE.parseInline(text, { async: false }));
}

/** Removes the marks of inline Markdown. An underscore within a word stays: `external_id` is a name. */
function plain(text: string): string {
  return text.replaceAll(/[`*]|\b_|_\b|\[([^\]]*)\]\([^)]*\)/g, "$1");
}

/** Turns links between the files of Markdown, and to the examples, into links between pages. */
function linkTarget(href: string): string {
  const [, example] = /(?:^|\/)examples\/([\w.-]+)$/.exec(href) ?? [];
  if (example !== undefined) return `/docs/examples#${example}`;
  const [, name, fragment = ""] = /^(?:\.\/|(?:\.\.\/)*docs\/guides\/)?([\w-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? href : `/docs/${name}${fragment}`;
}
