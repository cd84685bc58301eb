import { render } from "lit-html";
import { App } from "./app.ts";
import { followSessionKey } from "../session-key.ts";
import { pageOf } from "./page.ts";
import { titleOf, view } from "./view.ts";

/** The countdowns tick so often, in milliseconds. */
const TICK_MS = 1000;

/** Shows the console in an element, and keeps it up to date with the address, the tab and the clock. */
export function startConsole(root: HTMLElement): void {
  let planned = false;
  let wasEntered: boolean | undefined;
  const draw = () => {
    planned = false;
    render(view(app), root);
    document.title = titleOf(app.model);
    const entered = app.model.keys.length > 0;
    if (wasEntered !== undefined && entered !== wasEntered) focusHeading();
    wasEntered = entered;
  };
  /** The element that had the focus is gone: a screen reader goes on at the new heading. */
  const focusHeading = () => root.querySelector("h1")?.focus();
  /** Draws once for all changes of one moment. */
  const changed = () => {
    if (planned) return;
    planned = true;
    queueMicrotask(draw);
  };
  const app = new App(pageOf(location.hash), changed);

  addEventListener("hashchange", () => {
    app.show(pageOf(location.hash));
    draw();
    focusHeading();
    scrollTo(0, 0);
  });
  document.addEventListener("visibilitychange", () => app.watch.seen(!document.hidden));
  followSessionKey();
  addEventListener("online", () => app.watch.online());
  setInterval(() => {
    if (!document.hidden) changed();
  }, TICK_MS);

  app.watch.seen(!document.hidden);
  app.watch.start(app.model.keys);
  draw();
}
