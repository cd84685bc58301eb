import { expect } from "chai";
import { routes } from "../../../src/routes.ts";
import { Client } from "../../support/client.ts";
import { createCopies } from "../../support/copies.ts";
import { LoadClient } from "../../support/load.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { BusyAccount } from "../replicas/account.ts";
import { LARGEST, PAGES } from "./bodies.ts";
import { type Held, heldDuring, WATCHED } from "./watcher.ts";
import type { Send, Worst } from "./requests.ts";
import { refusals, successes, type World } from "./worst.ts";

/** The longest time that one request may hold the event loop, in milliseconds. */
const BOUND_MS = 50;
/**
 * Each request is sent up to this often, and its least disturbed run counts: other processes of the machine can make a
 * run longer, but nothing makes it shorter. They also make its CPU time longer while they keep all cores busy. The first
 * runs also wait for the compiler.
 */
const RUNS = 10;
/**
 * If ten runs are all above the bound, more follow, up to this many. Ten runs take a second or two, and other processes can
 * keep the cores busy for longer than that.
 */
const MOST_RUNS = 60;
/** A request that takes less is not sent again: it is not the worst. In milliseconds. */
const SHORT_MS = 30;

const ENDPOINTS = routes({} as Parameters<typeof routes>[0]);

describe("one request", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  let world: World;
  before(async () => {
    const settings = {
      LIMIT_SCALE: 100_000,
      LOG_LEVEL: "warn",
      STORE_TIMEOUT_MS: 20_000,
      MAX_DOCUMENT_BYTES: 2_000_000,
    };
    fleet = await startFleet(1, settings, { environments: [WATCHED] });
    world = await worldOf(fleet);
  });
  after(() => fleet.stop());

  it("has a worst case for every endpoint", () => {
    const names = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
    expect(Object.keys(successes(world))).to.have.members(names);
  });

  for (const route of ENDPOINTS) {
    const name = `${route.method} ${route.path}`;
    it(`never holds the event loop for ${BOUND_MS} ms: ${name}`, async () => {
      const accepted = await longest(successes(world)[name] ?? [], (status) => status < 400);
      const refused = await longest(refusals(route, world), (status) => status < 500);
      for (const { held, what } of [accepted, refused]) expect(length(held), what).to.be.below(BOUND_MS);
    });
  }

  interface Longest {
    readonly what: string;
    readonly held: Held;
  }

  /** Returns the request that held the loop longest, in its least disturbed run. */
  async function longest(worst: readonly Worst[], expected: (status: number) => boolean): Promise<Longest> {
    let most: Longest | undefined;
    for (const { what, prepare } of worst) {
      let least: Held | undefined;
      for (let run = 0; goesOn(run, least); run++) {
        const send = await prepare();
        const held = await heldDuring(fleet.members[0]!, async () => {
          const { status, body } = await send();
          expect(expected(status), `${what}: ${status} ${body.slice(0, 300)}`).to.equal(true);
        });
        if (least === undefined || length(held) < length(least)) least = held;
      }
      if (least !== undefined && (most === undefined || length(least) > length(most.held)))
        most = { what, held: least };
    }
    if (most === undefined) throw new Error("There is no worst case.");
    return most;
  }
});

/**
 * Returns whether to send a request again.
 * @param runs how often it was sent.
 * @param least the least disturbed run so far.
 */
function goesOn(runs: number, least: Held | undefined): boolean {
  if (least === undefined || length(least) >= BOUND_MS) return runs < MOST_RUNS;
  return runs < RUNS && length(least) > SHORT_MS;
}

/** A delay that is longer than the CPU time of the thread is the machine's; CPU time that is longer took several turns. */
function length({ delayMs, stretchMs }: Held): number {
  return Math.min(delayMs, stretchMs);
}

/** Creates candidates that are as large as the service allows, and enough of them for a page of the list. */
async function worldOf({ operators, url }: Fleet): Promise<World> {
  const load = new LoadClient(url, 1);
  const sender = ({ key }: { key: string }): Send => {
    return (method, path, sent = {}) => load.send({ method, path, key, ...sent });
  };
  const send = sender(await BusyAccount.make(operators, 1));
  const must: Send = async (method, path, sent) => {
    const response = await send(method, path, sent);
    if (response.status < 300) return response;
    throw new Error(`${method} ${path} answered ${response.status}: ${response.body.slice(0, 300)}`);
  };
  const post = async (path: string, value: unknown) => {
    const { body } = await must("POST", path, { body: JSON.stringify(value) });
    return JSON.parse(body) as Record<"documents" | "references", { id: string }[]> & { id: string };
  };
  const parts = new Map<string, { document: string; reference: string }>();
  for (const kind of ["text", "members"] as const) {
    const { create, patches } = LARGEST[kind];
    const { id, documents, references } = await post("/candidates", create());
    for (const [n, patch] of patches.entries())
      await must("PATCH", `/references/${references[n]!.id}`, { body: JSON.stringify(patch) });
    parts.set(id, { document: documents[0]!.id, reference: references[0]!.id });
    const content = `/candidates/${id}/documents/${documents[0]!.id}/content`;
    await must("PUT", content, { body: "x".repeat(1_000_000), headers: { "Content-Type": "text/plain" } });
  }
  for (let n = 0; n < 6; n++) await post("/candidates", LARGEST.text.create());
  const pages = [{ what: "8 candidates of 2 MiB", send }];
  for (const [what, copies] of Object.entries(PAGES)) {
    const account = await BusyAccount.make(operators, 1);
    await createCopies(operators, new Client(url, account.key), copies);
    pages.push({ what, send: sender(account) });
  }
  return {
    send,
    pages,
    ids: [...parts.keys()],
    document: (id) => parts.get(id)?.document ?? "",
    reference: (id) => parts.get(id)?.reference ?? "",
  };
}
