import { startConsole } from "./console/main.ts";

/** The entry of /console. */
const root = document.querySelector<HTMLElement>("#console");
if (root !== null) startConsole(root);
