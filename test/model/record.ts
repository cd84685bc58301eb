import { useStarted } from "../support/use-started.ts";
import { type Recorder, startRecorder } from "./redis-recorder.ts";

/**
 * Loaded by mocha with every run of tests (.mocharc.json). If the variable TRACES names a folder, all tests of the run and the
 * services that they start reach the run's Redis through a recorder, which writes traces of the limiter into that folder.
 * Without TRACES nothing changes.
 */

let recorder: Recorder | undefined;

/** mocha calls this once before all tests, in the process that starts the others. */
export async function mochaGlobalSetup(): Promise<void> {
  const { TRACES, REDIS_URL } = process.env;
  if (!TRACES || !REDIS_URL) return;
  const url = new URL(REDIS_URL);
  recorder = await startRecorder(Number(url.port), TRACES);
  url.port = String(recorder.port);
  process.env.REDIS_URL = url.href;
}

/** mocha calls this once after all tests. */
export async function mochaGlobalTeardown(): Promise<void> {
  await recorder?.close();
}

/**
 * Puts a recorder in front of a Redis that the suite has started itself, if TRACES names a folder. Call it after the hook that
 * starts the server. @returns where to reach the server.
 */
export function useRecorder(server: { readonly port: number }): { readonly port: number } {
  const { TRACES } = process.env;
  return useStarted(
    "The recorder",
    (): Promise<Pick<Recorder, "port"> & Partial<Recorder>> =>
      TRACES ? startRecorder(server.port, TRACES) : Promise.resolve({ port: server.port }),
    (started) => started.close?.(),
  );
}
