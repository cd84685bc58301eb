import { explain, say } from "../../src/dev/output.ts";
import { listenForStop, type StopSignals } from "../../src/dev/stop-signals.ts";

/**
 * Ends the process with the exit code that `run` returns, or with 1 if `run` fails or was interrupted. Prints why it failed.
 */
export async function exitWith(run: (signals: StopSignals) => Promise<number>): Promise<never> {
  const signals = listenForStop();
  let code = 1;
  try {
    code = await run(signals);
  } catch (error) {
    if (!signals.stopping.aborted) say(explain(error));
  }
  process.exit(signals.stopping.aborted ? 1 : code);
}
