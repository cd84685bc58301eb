import { createHash } from "node:crypto";
import { type Html, html, raw } from "../../schema/html.ts";
import type { Words } from "../languages/en.ts";
import { dateIn } from "../languages/formats.ts";
import type { Visit } from "./visits.ts";

const STYLE = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif;--line:#767676;--link:#1d4ed8;--good:#15803d;--bad:#b91c1c}
body{margin:0;padding:1rem;background:#fff;color:#1b1b1b;overflow-wrap:anywhere;hyphens:auto}
@media (prefers-color-scheme:dark){:root{--line:#9a9aa0;--link:#93b4ff;--good:#4ade80;--bad:#f87171}body{background:#17171a;color:#f0f0f0}}
a{color:var(--link)}
main,footer{max-width:38rem;margin:0 auto}
h1{font-size:1.5rem;line-height:1.25}
ul{list-style:none;padding:0}
li{border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:0 0 1rem}
h2{font-size:1.125rem;margin:0 0 .5rem}
small{display:block;font-size:.875rem;font-weight:400}
p{margin:.5rem 0}
label{display:block;font-weight:600;margin-top:1.5rem}
input,textarea,button,a.button{display:block;font:inherit;box-sizing:border-box;max-width:100%;min-height:2.75rem}
input,textarea{width:100%;margin:.5rem 0;border:1px solid var(--line);border-radius:.375rem;padding:.5rem;background:none;color:inherit}
input::file-selector-button{font:inherit;max-width:100%;min-height:2rem;margin-right:.5rem}
button,a.button{margin:1rem 0 0;padding:.5rem 1.25rem;border:1px solid var(--link);border-radius:.375rem;background:#1d4ed8;color:#fff;text-align:start;text-decoration:none;width:fit-content}
.quiet,a.quiet{background:none;color:inherit;border-color:var(--line)}
summary,footer a,.bad a{display:flow-root;min-height:1.5rem;padding:.625rem 0;width:fit-content;max-width:100%}
summary{display:list-item;margin-top:.5rem}
:focus-visible{outline:3px solid #d97706;outline-offset:2px}
.note{white-space:pre-line}
.why::first-letter{text-transform:uppercase}
.hint,footer{font-size:.875rem}
.good,.bad{border-left:.375rem solid var(--good);padding-left:.75rem;max-width:38rem;margin:0 auto 1rem}
.bad{border-color:var(--bad)}
[aria-invalid]{border:2px solid var(--bad)}
footer{margin-top:3rem}
`;

/** Made here, because the policy allows exactly this text: a formatter must not add spaces. */
const STYLE_ELEMENT = raw(`<style>${STYLE}</style>`);

/** Nothing is loaded but this page, and its forms go to this origin alone. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'`,
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

export type Page = Readonly<ReturnType<typeof pageOf>>;

interface Content {
  readonly title: string;
  readonly body: Html;
  /** Says what was done, or what is wrong. It comes first on the page, so that a screen reader reads it first. */
  readonly news?: string | Html | undefined;
}

/** Makes a page. It needs no script. */
export function pageOf(status: number, words: Words, { title, body, news }: Content, footer?: Html) {
  const isError = news !== undefined && status >= 400;
  const document = html`<!doctype html>
    <html lang="${words.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${isError && `${words.pages.error}${words.colon} `}${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          ${news && html`<div class="${isError ? "bad" : "good"}" role="${isError ? "alert" : "status"}">${news}</div>`}
          <h1>${title}</h1>
          ${body}
        </main>
        ${footer && html`<footer>${footer}</footer>`}
      </body>
    </html>`;
  return { status, body: document.text };
}

/** Makes a page of a link that its visitor has something to do with. Its foot says who asks, and why. */
export function visitPage(status: number, visit: Visit, content: Content): Page {
  const { words, sender, contact, person, path, link, reference } = visit;
  const { behalf, until, questions, stop } = words.pages;
  const why = reference === undefined ? words.documents.needed : words.reference.named(person);
  const life = link.expires_at !== undefined && until(dateIn(words, link.expires_at));
  const footer = html`<p>${behalf(sender)} ${why} ${questions(contact)}</p>
    <p>${life}</p>
    <a href="${path}/stop">${stop.title}</a>`;
  return pageOf(status, words, content, footer);
}

/** @param more what follows the text. */
export function noticeOf(status: number, words: Words, notice: { title: string; text: string }, more?: Html): Page {
  const body = html`<p>${notice.text}</p>
    ${more}`;
  return pageOf(status, words, { title: notice.title, body });
}
