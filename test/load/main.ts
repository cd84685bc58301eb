/**
 * `npm run load`: runs the scenarios of test/load/lib without k6. Exit code 0: proved. 1: not exact, not proven or
 * failed. 2: the command line or the target does not fit.
 */
import { join } from "node:path";
import { dataDirOf } from "../../src/dev/data-dir.ts";
import { explain } from "../../src/dev/output.ts";
import { listenForStop } from "../../src/dev/stop-signals.ts";
import { UsageError } from "./lib/host.ts";
import { Run } from "./lib/run.ts";
import { linesOf, type Report, runScenario } from "./lib/scenarios.ts";
import { Figures } from "./node/figures.ts";
import { createHost } from "./node/host.ts";
import { type Command, helpText, readCommand } from "./node/options.ts";
import { drawPicture } from "./node/picture.ts";
import { Screen } from "./node/screen.ts";

const print = (text: string): void => void process.stdout.write(`${text}\n`);

async function main(): Promise<number> {
  const command = readCommand(process.argv.slice(2), process.env);
  if (command === "help") {
    print(helpText());
    return 0;
  }
  const { stopping, forced } = listenForStop();
  forced.addEventListener("abort", () => process.exit(1));
  const figures = new Figures();
  const screen = new Screen(process.stdout, figures);
  const { connections } = command.settings;
  const host = createHost(
    { connections, stopping },
    { say: (line) => screen.say(line), seen: (outcome) => figures.add(outcome) },
  );
  const run = new Run(command.settings, host);
  screen.start(run);
  try {
    const report = await runScenario(command.scenario, run);
    screen.stop();
    await conclude(command, report, figures);
    return report.proved ? 0 : 1;
  } finally {
    screen.stop();
    await host.close();
  }
}

async function conclude({ scenario, picture }: Command, report: Report, figures: Figures): Promise<void> {
  for (const line of linesOf(report)) print(line);
  for (const block of [figures.bySurface(), figures.byKey(), figures.histogram()]) print(`\n${block}`);
  const now = new Date().toISOString();
  const file = picture ?? join(dataDirOf(process.env), "load", `${scenario}-${now.replaceAll(/[:.]/g, "-")}.svg`);
  const verdict = report.proved ? "proved" : "NOT proved: the lines at the top say why";
  await drawPicture(file, `${scenario}, ${now}: ${report.proved ? "proved" : "not proved"}`, figures.slices());
  print(`\npicture: ${file}\n${scenario}: ${verdict}`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof UsageError ? error.message : explain(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
