import { runCommand } from "./run.ts";

// `| head -1` has read enough. Nothing is cut short: a command changes first, and prints then.
process.stdout.on("error", ({ code, message }: NodeJS.ErrnoException) => {
  if (code !== "EPIPE") process.stderr.write(`${message}\n`);
  process.exit(code === "EPIPE" ? 0 : 1);
});
process.exitCode = await runCommand(process.argv.slice(2), process);
