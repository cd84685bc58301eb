/** The script of every page of the documentation: search, and a button on each block of code that copies it. */
import { addSearch } from "./search.ts";

const open = document.querySelector<HTMLButtonElement>("#search-open");
if (open !== null) addSearch(open);

const status = document.createElement("p");
status.setAttribute("role", "status");
status.className = "unseen";
document.body.append(status);

for (const block of document.querySelectorAll<HTMLElement>(".code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", () => void copy(block, button));
  block.prepend(button);
}

async function copy(block: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const copied = await write(block.querySelector("pre")?.textContent ?? "");
  status.textContent = copied
    ? "The code is copied."
    : "The browser does not let this page copy. Select the code instead.";
  button.textContent = copied ? "Copied" : "Not copied";
  setTimeout(() => {
    button.textContent = "Copy";
    status.textContent = "";
  }, 2000);
}

/** Returns whether the text is in the clipboard. A browser may forbid it; without HTTPS it has no clipboard at all. */
async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
