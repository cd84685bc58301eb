/** A line for the person at the terminal, on standard error: standard output belongs to the service and the commands. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** A set-up that cannot go on, and what to do about it, in one line. Entries print the message alone and exit 1. */
export class SetupError extends Error {}

/** What to tell about a failure: the line of a `SetupError`, the stack of what nobody foresaw. */
export function explain(error: unknown): string {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const REPORT_EVERY_MS = 2000;

/**
 * Tells how far a download is, at most every two seconds and once at its end.
 * @returns to be called with the bytes received and expected; 0 expected means that the server did not say.
 */
export function downloadProgress(what: string): (received: number, expected: number) => void {
  let last = 0;
  return (received, expected) => {
    const now = performance.now();
    if (now - last < REPORT_EVERY_MS && received !== expected) return;
    last = now;
    say(`  ${what}: ${megabytes(received)}${expected > 0 ? ` of ${megabytes(expected)}` : ""}`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
