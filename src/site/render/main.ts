/**
 * Renders /docs and /console into the folder that its argument names. `npm run build` runs it; a service that is not
 * compiled runs it at the first request for a page.
 */
import { site } from "./site.ts";
import { write } from "./write.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("Name the folder to render into.");
await write(folder, await site());
