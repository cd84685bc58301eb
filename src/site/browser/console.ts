/** The script of /console: keeps the page up to date with the address, the tab and the clock. */
import { render } from "lit-html";
import { App } from "./console/app.ts";
import { pageOf } from "./console/page.ts";
import { titleOf, view } from "./console/view.ts";
import { followSessionKey } from "./session-key.ts";

/** Interval at which the countdowns tick. */
const TICK_MS = 1000;

const root = document.querySelector<HTMLElement>("#console") ?? document.body;
let planned = false;
let wasEntered: boolean | undefined;
const app = new App(pageOf(location.hash), changed);

/** Draws once for all changes of one moment. */
function changed(): void {
  if (planned) return;
  planned = true;
  queueMicrotask(draw);
}

function draw(): void {
  planned = false;
  render(view(app), root);
  document.title = titleOf(app.model);
  const entered = app.model.keys.length > 0;
  if (wasEntered !== undefined && entered !== wasEntered) focusHeading();
  wasEntered = entered;
}

/** The element that had the focus is gone: a screen reader goes on at the new heading. */
function focusHeading(): void {
  root.querySelector("h1")?.focus();
}

addEventListener("hashchange", () => {
  app.show(pageOf(location.hash));
  draw();
  focusHeading();
  scrollTo(0, 0);
});
document.addEventListener("visibilitychange", () => app.watch.visible(!document.hidden));
followSessionKey();
setInterval(() => {
  if (!document.hidden) changed();
}, TICK_MS);

app.watch.visible(!document.hidden);
app.poll();
draw();
