import { expect } from "chai";
import { createCopies } from "../../support/copies.ts";
import { LoadClient } from "../../support/load.ts";
import { type Fleet, startFleet } from "../replicas/fleet.ts";
import { Client } from "../../support/client.ts";
import { BusyAccount } from "../replicas/account.ts";
import { heldDuring, WATCHED } from "./watcher.ts";
import { letters } from "./bodies.ts";

describe("scratch", function () {
  this.timeout(180_000);
  let fleet: Fleet;
  before(async () => {
    fleet = await startFleet(1, { LIMIT_SCALE: 100_000, LOG_LEVEL: "warn", STORE_TIMEOUT_MS: 20_000 }, { environments: [WATCHED] });
  });
  after(() => fleet.stop());
  const CASES: Record<string, { count?: number; changes?: object; body?: object }> = {
    typical: {},
    "not stored": { changes: { row_form: 0 } },
    "256 KiB": { count: 40, body: { metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, letters(450, n)])), documents: Array.from({ length: 2 }, (_, m) => ({ name: `d${m}`, metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, letters(480, n)])) })) } },
    "256 KiB not stored": { count: 40, changes: { row_form: 0 }, body: { metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, letters(450, n)])), documents: Array.from({ length: 2 }, (_, m) => ({ name: `d${m}`, metadata: Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`m${n}`, letters(480, n)])) })) } },
    deleted: { changes: { deleted: true, state: "deleted" } },
    unreadable: { changes: { row_form: 0, name: 7 as never } },
    "with edges": { body: { documents: Array.from({ length: 10 }, (_, m) => ({ name: `d${m}` })), references: Array.from({ length: 3 }, (_, m) => ({ name: `d${m}` })) }, changes: { row_form: 0 } },
  };
  for (const [name, { count = 1_000, ...options }] of Object.entries(CASES))
    for (const coding of ["identity", "br", "gzip"])
    it(name + " " + coding, async () => {
      const { key } = await BusyAccount.make(fleet.operators, 1);
      const client = new Client(fleet.url, key);
      await createCopies(fleet.operators, client, count, options);
      const load = new LoadClient(fleet.url, 1);
      const out: string[] = [];
      for (let n = 0; n < 8; n++) {
        let bytes = 0, ms = 0;
        const held = await heldDuring(fleet.members[0]!, async () => {
          const began = performance.now();
          const r = await load.send({ method: "GET", path: "/candidates?limit=1000", key, headers: { "Accept-Encoding": coding } });
          expect(r.status).to.equal(200);
          bytes = Number(r.headers["content-length"]); ms = performance.now() - began;
        });
        out.push(`${held.delayMs.toFixed(0)}/${held.stretchMs.toFixed(0)}/${ms.toFixed(0)}`);
        if (n === 7) out.push(`${bytes} B`);
      }
      console.log(name, coding, out.join("  "));
    });
});
