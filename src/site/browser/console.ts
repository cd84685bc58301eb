import { startConsole } from "./console/main.ts";

const root = document.querySelector<HTMLElement>("#console");
if (root !== null) startConsole(root);
