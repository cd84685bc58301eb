/** Prints a line on standard error. Standard output is reserved for the service and the commands. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Says in one line why the set-up cannot continue and what to do. Entry points print only the message and exit with 1. */
export class SetupError extends Error {}

/** Returns what to print about an error: the message of a `SetupError`, else the stack. */
export function explain(error: unknown): string {
  if (error instanceof SetupError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

const REPORT_EVERY_MS = 2000;

/**
 * Prints the progress of a download, at most every two seconds and once at the end.
 * @returns a function to call with the bytes received and expected; 0 expected if the server did not send the size.
 */
export function downloadProgress(what: string): (received: number, expected: number) => void {
  let lastReportAt = 0;
  return (received, expected) => {
    const now = performance.now();
    if (now - lastReportAt < REPORT_EVERY_MS && received !== expected) return;
    lastReportAt = now;
    say(`  ${what}: ${megabytes(received)}${expected > 0 ? ` of ${megabytes(expected)}` : ""}`);
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MB`;
}
