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
