import { html, nothing, type TemplateResult } from "lit-html";
import type { App } from "./app.ts";
import type { KeyEntry } from "./model.ts";

/** The first page: asks for a key. */
export function keyView(app: App): TemplateResult {
  return html`<section class="enter">
    <h1 tabindex="-1">Console</h1>
    <p class="lead">
      See your account as the service sees it: limits, grants, candidates and webhooks. The console only reads, and
      sends test nudges.
    </p>
    ${keyForm(app.model.entry, {
      name: "key",
      label: "API key",
      button: "Open the console",
      buttonClass: "primary",
      help: "The key stays in this tab. The browser forgets it when you close the tab, and sends it to this service only. The limits are read with GET /limits, which is free. A button that costs a request says so before you click.",
      submit: ({ value }) => void app.add(value),
    })}
  </section>`;
}

interface KeyForm {
  /** Names the field, and begins the ids of what belongs to it. */
  readonly name: string;
  readonly label: string;
  readonly button: string;
  readonly buttonClass?: string;
  readonly help: string;
  /** Called with the field, unless a key is being checked. */
  readonly submit: (field: HTMLInputElement) => void;
}

/** A form that asks for a key, and shows what is wrong with the last one. */
export function keyForm({ checking, fault }: KeyEntry, form: KeyForm): TemplateResult {
  const { name, label, button, buttonClass = "", help, submit } = form;
  const submitted = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    const field = form instanceof HTMLFormElement ? form.elements.namedItem(name) : null;
    if (!checking && field instanceof HTMLInputElement) submit(field);
  };
  return html`<form @submit=${submitted}>
    <label for=${name}>${label}</label>
    <div class="field">
      <input
        id=${name}
        name=${name}
        type="password"
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
        aria-invalid=${fault === "" ? "false" : "true"}
        aria-describedby=${`${name}-fault ${name}-help`}
      />
      <button type="submit" class=${buttonClass} aria-disabled=${checking ? "true" : "false"}>
        ${checking ? "Checking …" : button}
      </button>
    </div>
    <p id=${`${name}-fault`} class="fault" role="alert">${fault === "" ? nothing : fault}</p>
    <p id=${`${name}-help`} class="quiet">${help}</p>
  </form>`;
}
