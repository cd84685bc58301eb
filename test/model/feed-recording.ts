import { useStarted } from "../support/use-started.ts";
import { primaryOf } from "../support/mongo-url.ts";
import type { Settings } from "../support/processes.ts";
import { testConfig } from "../support/service.ts";
import { type AnsweredPage, type FeedRecorder, startFeedRecorder } from "./feed-recorder.ts";

/** Records traces of a suite's service, if the environment variable TRACES names a folder. Otherwise does nothing. */
export interface FeedRecording {
  /** Returns the service's settings, with the address of the recorder in place of MongoDB's. */
  settings(settings: Settings): Settings;
  /** Notes that the reader of an account got a page. @param cursor what it had sent, empty at first. */
  read(account: string, cursor: string, page: AnsweredPage): void;
  /** Writes the trace of an account. Call it when the reader has come to the end, and nothing is under way. */
  write(account: string, lagMs: number): void;
}

/** Starts the recorder before the suite that calls this. Call it before what starts the service. */
export function useFeedRecording(): FeedRecording {
  const { TRACES: folder, MONGODB_URL: server = "" } = process.env;
  if (!folder) return { settings: (settings) => settings, read: () => undefined, write: () => undefined };
  let through: (database: string) => string;
  const start = async (): Promise<FeedRecorder> => {
    const primary = await primaryOf(server);
    if (primary.tls) throw new Error("TRACES needs a MongoDB without TLS: the recorder reads what passes it.");
    const recorder = await startFeedRecorder(primary.port, primary.host);
    through = (database) => primary.through(`127.0.0.1:${recorder.port}`, database);
    return recorder;
  };
  const recorder = useStarted("The recorder", start, (started) => started.close());
  return {
    settings: (settings) => ({
      ...settings,
      MONGODB_URL: through(decodeURIComponent(new URL(testConfig().MONGODB_URL ?? "").pathname.slice(1))),
    }),
    read: (account, cursor, page) => recorder.read(account, cursor, page),
    write: (account, lagMs) => recorder.write(folder, account, { lagMs }, { passed: false }),
  };
}
