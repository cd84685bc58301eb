/** Skips the running test. `why` says what this machine lacks. */
export function skip(test: Mocha.Context, why: string): never {
  process.stdout.write(`      skipped: ${why}\n`);
  return test.skip();
}
