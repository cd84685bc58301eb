import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { followSessionKey, sessionKey } from "./session-key.ts";

/** The script of /docs/try. */

// The sheet of swagger-ui has dark colours for this class alone.
const dark = matchMedia("(prefers-color-scheme: dark)");
const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
dark.addEventListener("change", follow);
follow();
followSessionKey();

interface Contract {
  readonly components: { readonly parameters: Readonly<Record<string, { example?: unknown }>> };
}

/** Returns the contract without examples of headers. They would be sent, and an example of If-Match fits no candidate. */
async function contract(): Promise<Contract> {
  const read = (await (await fetch("/openapi.json")).json()) as Contract;
  for (const parameter of Object.values(read.components.parameters)) delete parameter.example;
  return read;
}

const ui = SwaggerUI({
  spec: await contract(),
  dom_id: "#swagger",
  docExpansion: "list",
  defaultModelsExpandDepth: -1,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  validatorUrl: null, // the default asks another origin
  onComplete: () => {
    if (sessionKey() !== "") ui.preauthorizeApiKey("apiKey", sessionKey());
  },
});
