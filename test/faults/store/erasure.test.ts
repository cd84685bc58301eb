import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import { AuditStore } from "../../../src/audit/store.ts";
import { eraserOf } from "../../../src/candidates/eraser.ts";
import { AddressHash } from "../../../src/reminders/address-hash.ts";
import { reminderStores } from "../../../src/reminders/stores.ts";
import { CandidateStore } from "../../../src/candidates/store.ts";
import { ContentStore } from "../../../src/content/store.ts";
import { idempotencyService } from "../../../src/idempotency/idempotency.ts";
import { IdempotencyStore } from "../../../src/idempotency/store.ts";
import { SharedClock } from "../../../src/infra/clock.ts";
import { erasures } from "../../../src/sweeps/sweep.ts";
import { BYTES, DOCUMENT, filesIn, PERSON, STRINGS, tracesIn } from "../../erasure/support.ts";
import { Client } from "../../support/client.ts";
import { type Primary, primaryOf } from "../../support/mongo-url.ts";
import { environmentOf } from "../../support/service.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { type Member, startMember } from "../../support/processes.ts";
import { skip } from "../skip.ts";
import { type Network, startNetwork } from "./network.ts";

/** What a replica sends to MongoDB besides its requests. */
const BACKGROUND = ["hello", "ping", "leases", "feed_marks", "endSessions", "createIndexes"];

describe("a replica killed with SIGKILL in the middle of an erasure", function () {
  this.timeout(300_000);
  const service = useService({ LIMIT_SCALE: 1_000 });
  const account = useAccount(service);
  const { client } = account;
  let network: Network;
  let primary: Primary;
  before(async function () {
    primary = await primaryOf(process.env.MONGODB_URL ?? "");
    if (primary.tls) skip(this, "it reads what goes to MongoDB, and the connection of MONGODB_URL is encrypted");
    network = await startNetwork(primary.port, primary.host);
  });
  after(() => network?.close());

  /** Brings the person into the database in every way there is. */
  async function createPerson() {
    const key = () => ({ "Idempotency-Key": randomUUID() });
    const { references, id } = (await client.post("/candidates", PERSON, key())).body;
    const path = `/candidates/${id}`;
    const document = (await client.post(`${path}/documents`, DOCUMENT, key())).body;
    for (const body of [BYTES, Buffer.concat([BYTES, BYTES])])
      expect((await client.request("PUT", `${path}/documents/${document.id}/content`, { body })).status).to.equal(200);
    await client.post(`${path}/start`, undefined, key());
    return {
      candidate: path,
      document: `${path}/documents/${document.id}`,
      reference: `/references/${references[0]?.id}`,
    };
  }

  function startVictim(): Promise<Member> {
    const { config, operators } = service;
    const MONGODB_URL = primary.through(`127.0.0.1:${network.port}`, operators.mongo.db.databaseName);
    return startMember({ ...environmentOf(config), MONGODB_URL });
  }

  /**
   * Deletes through a replica that is killed instead of sending its command number `step` to MongoDB.
   * @returns the status; undefined if the replica was killed.
   */
  async function deleteUntil(step: number, victim: Member, path: string): Promise<number | undefined> {
    const gone = once(victim.child, "exit");
    let sent = 0;
    network.holds = (data) => {
      if (BACKGROUND.some((each) => data.includes(each)) || ++sent !== step) return false;
      victim.child.kill("SIGKILL");
      return true;
    };
    const response = await new Client(`http://127.0.0.1:${victim.port}`, account.key)
      .request("DELETE", path)
      .catch(() => undefined);
    network.holds = () => false;
    if (response === undefined) await gone;
    else await victim.end("SIGTERM");
    network.cut();
    return response?.status;
  }

  async function sweep(): Promise<number> {
    const { mongo } = service.operators;
    const clock = new SharedClock();
    const store = new CandidateStore(mongo, clock);
    const idempotency = idempotencyService({ store: new IdempotencyStore(mongo), clock, random: randomBytes });
    const eraser = eraserOf({
      store,
      content: new ContentStore(mongo, clock),
      idempotency,
      audit: new AuditStore(mongo, clock),
      messages: reminderStores(mongo, new AddressHash(randomBytes(32)), randomBytes),
    });
    return erasures(store.reader, eraser).run(new AbortController().signal);
  }

  for (const [kind, strings, stride] of [
    ["candidate", STRINGS, 1],
    ["document", ["X-90210-Z", "Passport of", "the passport of"], 2],
    ["reference", ["Underhill", "underhill", "splendid chap"], 2],
  ] as const) {
    it(`has deleted all of a ${kind} or nothing of it, once the sweep has run`, async () => {
      const { mongo } = service.operators;
      let [nothing, half] = [0, 0];
      for (let step = 1; ; step += stride) {
        const [person, victim] = await Promise.all([createPerson(), startVictim()]);
        const path = person[kind];
        const files = await filesIn(mongo);
        const status = await deleteUntil(step, victim, path);
        await sweep();
        const isThere = (await client.get(path)).status === 200;
        if (isThere) expect((await client.request("DELETE", path)).status).to.equal(204);
        expect(await tracesIn(mongo, { strings, files }), `killed at step ${step}`).to.deep.equal([]);
        expect((await client.get(path)).status).to.equal(kind === "candidate" ? 410 : 404);
        expect(await sweep(), "what is left to do").to.equal(0);
        await client.request("DELETE", person.candidate);
        if (status !== undefined) {
          expect(status).to.equal(204);
          break;
        }
        if (isThere) nothing++;
        else half++;
      }
      expect(nothing, "steps before the first write").to.be.above(1 / stride);
      expect(half, "steps after it").to.be.above(4 / stride);
    });
  }
});
