import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { SetupError } from "../../../src/dev/output.ts";
import { buildRelease, commitOf } from "../../upgrade/release.ts";
import { alternate, serverCpu, type Target } from "../alternate.ts";
import type { Bench } from "../bench.ts";
import { Children } from "../children.ts";
import { compare } from "../in-turns.ts";
import { createCandidates } from "../pipeline.ts";
import { ratioRow, type Row, type Section } from "../report.ts";
import { startService, type Service } from "../service.ts";
import { PATH, ROWS } from "./list.ts";

const CONNECTIONS = 4;
/** Candidates that are read and changed in turn. */
const SOME = 32;

/** What is measured: its bound, and the requests. Each PATCH changes something. */
const REQUESTS: Record<string, { bound: number; of: (service: Service, ids: readonly string[]) => readonly string[] }> =
  {
    "poll with nothing new": {
      bound: 1.05,
      of: (service) => [service.text("GET", `${PATH}&updated_since=2090-01-01T00:00:00Z`)],
    },
    [`page of ${ROWS}`]: { bound: 1.05, of: (service) => [service.text("GET", PATH)] },
    "GET of one": { bound: 1.05, of: (service, ids) => ids.map((id) => service.text("GET", `/candidates/${id}`)) },
    PATCH: {
      bound: 1.35,
      of: (service, ids) =>
        ["Ann", "Bob"].flatMap((name) =>
          ids.map((id) => service.text("PATCH", `/candidates/${id}`, {}, JSON.stringify({ name }))),
        ),
    },
  };

/** Measures the server's CPU of usual requests beside another commit (BESIDE), each on a database of its own. */
export async function besideRows(bench: Bench): Promise<Section> {
  const ref = process.env["BESIDE"] ?? "";
  const commit = await commitOf(ref);
  if (commit === undefined) throw new SetupError("Set BESIDE to a commit of this clone.");
  const dist = await buildRelease(commit, join(bench.folder, "beside"));
  symlinkSync(dist, join(dist, "src")); // where the bench's own bundle has it
  const other = { ...(await bench.withDatabase()), children: new Children(dist, bench.signal) };
  // Longer slices than for other parts: V8 collects garbage only every few pages.
  const longer = { ...bench, options: { ...bench.options, slice: 3 * bench.options.slice } };
  const rows: Row[] = [];
  try {
    const services = { ours: await started(bench), theirs: await started(other) };
    for (const [what, { bound, of }] of Object.entries(REQUESTS)) {
      const targets = Object.entries(services).map(([id, { service, ids }]): Target => {
        const { child, port } = service;
        return { id, pid: child.pid, port, requests: of(service, ids.slice(0, SOME)), status: 200 };
      });
      const pair = { measured: "ours", reference: "theirs", cost: serverCpu };
      const rounds = await alternate(longer, targets, { connections: CONNECTIONS, compared: [pair] });
      rows.push(ratioRow(`${what}, server CPU`, compare(rounds, pair), bound, `commit ${commit.slice(0, 7)}`));
    }
  } finally {
    await other.children.stopAll();
  }
  return { title: `Beside commit ${commit.slice(0, 7)}`, tables: [], rows };
}

async function started(bench: Bench): Promise<{ service: Service; ids: readonly string[] }> {
  const service = await startService(bench);
  return { service, ids: await createCandidates(service, ROWS) };
}
