import type { Surface } from "../../../src/limiter/surfaces.ts";
import { askFor } from "./asks.ts";
import { textOf } from "./contract.ts";
import type { Outcome } from "./host.ts";
import type { Run } from "./run.ts";

/**
 * Returns a client of the service, which keeps the cursor of the feed, the id of its newest candidate and that one's ETag.
 * It sends the next request of a surface, and creates a candidate instead if the request needs one and there is none.
 */
export function newIntegrator(run: Run, key: number): (surface: Surface) => Promise<Outcome> {
  const name = `load-${Date.now()}-${key}`;
  let feed = `/candidates?updated_since=${new Date().toISOString()}`;
  let [newest, etag, sent] = ["", "", 0];

  const create = async (): Promise<Outcome> => {
    const json = {
      name: "Load test",
      documents: ["Passport", "Diploma"],
      references: [{ email: "referee@example.com" }],
    };
    const headers = { "Idempotency-Key": `${name}-${sent}` };
    const outcome = await run.send({ ...askFor("create", key, ""), json, headers });
    const id = textOf(outcome.answer.body, "id");
    if (outcome.verdict === "admitted" && id !== "") [newest, etag] = [id, ""];
    return outcome;
  };
  /** Asks for what has changed since the last time. */
  const poll = async (): Promise<Outcome> => {
    const outcome = await run.send({ ...askFor("list", key, ""), path: feed });
    const cursor = textOf(outcome.answer.body, "cursor");
    if (cursor !== "") feed = `/candidates?cursor=${encodeURIComponent(cursor)}`;
    return outcome;
  };
  /** Reads the newest candidate, whole only if it has changed. */
  const read = async (): Promise<Outcome> => {
    const candidate = newest;
    const headers: Record<string, string> = etag === "" ? {} : { "If-None-Match": etag };
    const outcome = await run.send({ ...askFor("reads", key, candidate), headers });
    if (candidate === newest) etag = outcome.answer.headers["etag"] ?? etag;
    return outcome;
  };
  /** The four writes in turn. */
  const write = (): Promise<Outcome> => {
    const writes = [
      ["PATCH", "", { job_title: `Engineer ${sent}` }],
      ["POST", "/documents", { name: "Work permit" }],
      ["POST", "/references", { email: "colleague@example.com" }],
      ["PATCH", "/outreach", { docs_chase_attempts: sent % 10 }],
    ] as const;
    const [method, path, json] = writes[sent % writes.length] ?? writes[0];
    return run.send({ method, path: `/candidates/${newest}${path}`, surface: "writes", key, json });
  };

  return (surface) => {
    sent++;
    if (surface === "list") return poll();
    if (surface === "create" || (newest === "" && surface !== "settings")) return create();
    if (surface === "reads") return read();
    if (surface === "writes") return write();
    return run.send(askFor(surface, key, newest));
  };
}
