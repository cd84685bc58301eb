/** The script of every page of the documentation: search, and a button on each block of code that copies it. */
import { element } from "./element.ts";
import { addSearch } from "./search.ts";

const open = document.querySelector<HTMLButtonElement>("#search-open");
if (open !== null) addSearch(open);

const status = element("p", { role: "status", class: "unseen" });
document.body.append(status);

for (const block of document.querySelectorAll<HTMLElement>(".code")) {
  // The client is installed from this service.
  if (block.textContent?.startsWith("npm install"))
    for (const base of block.querySelectorAll(".hljs-variable")) base.textContent = location.origin;
  const button = element("button", { type: "button", class: "copy" }, "Copy");
  button.addEventListener("click", () => void copy(block, button));
  block.prepend(button);
}

async function copy(block: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(block.querySelector("pre")?.textContent ?? "");
    status.textContent = "The code is copied.";
    button.textContent = "Copied";
  } catch {
    // The browser forbids it, or has no clipboard at all: without HTTPS.
    status.textContent = "The browser does not let this page copy. Select the code instead.";
    button.textContent = "Not copied";
  }
  setTimeout(() => {
    button.textContent = "Copy";
    status.textContent = "";
  }, 2000);
}
