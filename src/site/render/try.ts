import type { Document } from "./document.ts";
import { html } from "../../infra/html.ts";

export function tryPage(): Document {
  return {
    slug: "try",
    title: "Try it out",
    lead: "Send real requests to this service with your key. Each of them is charged like any other.",
    body: html`<div id="swagger">
      <noscript><p>Trying it out needs JavaScript. The reference does not.</p></noscript>
    </div>`,
    headings: [],
    scripts: ["try.js"],
    styles: ["try.css"],
    wide: true,
  };
}
