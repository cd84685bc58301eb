import { readFileSync } from "node:fs";

/** Returns node's flags in the Dockerfile's CMD: what starts the service elsewhere starts it as the image does. */
export function imageFlags(): string[] {
  const command = /^CMD (\[.*\])$/m.exec(readFileSync(new URL("../../Dockerfile", import.meta.url), "utf8"))?.[1];
  return (JSON.parse(command ?? "[]") as string[]).slice(1, -1);
}
