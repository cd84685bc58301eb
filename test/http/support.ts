import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { Problem } from "../../src/problems.ts";

/** Returns a request that has these headers and this body. */
export function request(headers: Record<string, string>, body: string | Buffer = ""): IncomingMessage {
  return Object.assign(Readable.from(body.length === 0 ? [] : [Buffer.from(body as string)]), {
    headers,
  }) as IncomingMessage;
}

/** Returns what a step is refused with: the code, the sentence, and the faults if there are any. */
export async function refused(step: () => unknown): Promise<unknown[]> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, detail, extras } = error;
    return [code, detail, ...(extras.errors ?? [])];
  }
  return [];
}
