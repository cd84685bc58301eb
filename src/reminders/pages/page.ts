import { createHash } from "node:crypto";
import { type Html, html, raw } from "../../schema/html.ts";
import type { Words } from "../languages/en.ts";

const STYLE = `
:root{color-scheme:light dark;font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,Helvetica,Arial,sans-serif}
body{margin:0;padding:1rem;background:#fff;color:#1b1b1b}
a{color:#1d4ed8}
@media (prefers-color-scheme:dark){body{background:#17171a;color:#f0f0f0}a{color:#93b4ff}}
main,footer{max-width:38rem;margin:0 auto}
h1{font-size:1.5rem;line-height:1.25}
ul{list-style:none;padding:0}
li,fieldset{border:1px solid #767676;border-radius:.5rem;padding:1rem;margin:0 0 1rem}
h2{font-size:1.125rem;margin:0 0 .5rem;overflow-wrap:anywhere}
label,input,textarea,button,a.button{display:block;font:inherit;box-sizing:border-box;max-width:100%}
input,textarea{width:100%;margin:.5rem 0 1rem}
button,a.button{min-height:2.75rem;padding:.5rem 1.25rem;border:1px solid #1d4ed8;border-radius:.375rem;background:#1d4ed8;color:#fff;text-decoration:none;width:fit-content}
button.quiet{background:none;color:inherit;border-color:#767676;margin-top:1rem}
:focus-visible{outline:3px solid #d97706;outline-offset:2px}
.note{white-space:pre-line;overflow-wrap:anywhere}
.why::first-letter{text-transform:uppercase}
.good{border-left:.375rem solid #15803d;padding-left:.75rem}
.bad{border-left:.375rem solid #b91c1c;padding-left:.75rem}
footer{margin-top:3rem;font-size:.875rem}
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

export interface Page {
  readonly status: number;
  readonly body: string;
}

/** Makes a page. It needs no script. @param stop the path of the page that stops further messages, if there are any to stop. */
export function pageOf(
  status: number,
  words: Words,
  { title, body, stop }: { readonly title: string; readonly body: Html; readonly stop?: string },
): Page {
  const document = html`<!doctype html>
    <html lang="${words.language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        ${STYLE_ELEMENT}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
        ${stop !== undefined && html`<footer><a href="${stop}">${words.pages.stop.title}</a></footer>`}
      </body>
    </html>`;
  return { status, body: document.text };
}

export function noticeOf(status: number, words: Words, { title, text }: { title: string; text: string }): Page {
  return pageOf(status, words, { title, body: html`<p>${text}</p>` });
}
