import { randomBytes } from "node:crypto";
import { expect } from "chai";
import { AuditStore } from "../../src/audit/store.ts";
import { eraserOf, type Eraser } from "../../src/candidates/eraser.ts";
import { AddressHash } from "../../src/reminders/address-hash.ts";
import { reminderStores } from "../../src/reminders/stores.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import { SharedClock } from "../../src/infra/clock.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { BYTES, DOCUMENT, filesIn, PERSON, tracesIn } from "./support.ts";

const crash = () => Promise.reject(new Error("crash"));

describe("an erasure that was interrupted", () => {
  const service = useService({ LIMIT_SCALE: 100 });
  const account = useAccount(service);
  const { client } = account;

  /** What an eraser works with, as in a process of its own. `asked` is what the stored responses were told to do. */
  function parts() {
    const { mongo } = service.operators;
    const clock = new SharedClock();
    const asked: string[] = [];
    const told = (what: string) => (accountId: string, id: string) =>
      Promise.resolve(void asked.push([what, accountId, id].join(" ")));
    return {
      asked,
      store: new CandidateStore(mongo, clock),
      content: new ContentStore(mongo, clock),
      audit: new AuditStore(mongo, clock),
      idempotency: { end: told("end"), forget: told("forget") },
      messages: reminderStores(mongo, new AddressHash(randomBytes(32)), randomBytes),
    };
  }
  type Parts = ReturnType<typeof parts>;

  async function createPerson() {
    const { id } = (await client.post("/candidates", PERSON)).body;
    const document = (await client.post(`/candidates/${id}/documents`, DOCUMENT)).body.id;
    const headers = { "Content-Type": "text/plain" };
    for (const body of [BYTES, Buffer.concat([BYTES, BYTES])])
      await client.request("PUT", `/candidates/${id}/documents/${document}/content`, { headers, body });
    return { id, document };
  }

  /** Begins an erasure that ends where `broken` does. */
  async function interrupted(broken: Partial<Parts>, erase: (eraser: Eraser) => Promise<unknown>): Promise<void> {
    const failure = await erase(eraserOf({ ...parts(), ...broken })).catch((error: unknown) => String(error));
    expect(failure).to.equal("Error: crash");
  }

  const steps: Record<string, () => Partial<Parts>> = {
    "the stored answers are ended": () => ({ idempotency: { ...parts().idempotency, end: crash } }),
    "its files are removed": () => ({ content: Object.assign(parts().content, { remove: crash }) }),
    "replaced files are removed": () => ({ content: Object.assign(parts().content, { unsettled: crash }) }),
    "its references are forgotten": () => {
      const { store } = parts();
      return { store: Object.assign(store, { references: Object.assign(store.references, { remove: crash }) }) };
    },
    "the audit is written": () => ({ audit: Object.assign(parts().audit, { append: crash }) }),
  };
  for (const [step, broken] of Object.entries(steps))
    it(`before ${step} is finished by the sweep, once`, async () => {
      const { id } = await createPerson();
      const files = await filesIn(service.operators.mongo);
      const caller = { accountId: account.id, keyId: account.keyId };
      await interrupted(broken(), (eraser) => eraser.erase(caller, id, () => {}));
      expect((await client.get(`/candidates/${id}`)).status).to.equal(410);

      const { asked, ...others } = parts();
      const eraser = eraserOf(others);
      const { signal } = new AbortController();
      expect(await eraser.finish(account.id, id, signal)).to.equal(true);
      expect(asked).to.deep.equal([`end ${account.id} ${id}`]);
      expect(await tracesIn(service.operators.mongo, { files })).to.deep.equal([]);
      const { data } = await service.operators.audit.list(100, account.id);
      expect(data.filter(({ subject }) => subject === id)).to.have.length(1);
      expect(await eraser.finish(account.id, id, signal), "nothing is left").to.equal(false);
    });

  it("of one document is finished too, and the candidate stays", async () => {
    const { id, document } = await createPerson();
    const caller = { accountId: account.id, keyId: account.keyId, by: { type: "key", id: account.keyId } } as const;
    const broken = { content: Object.assign(parts().content, { remove: crash }) };
    await interrupted(broken, (eraser) =>
      eraser.removePart(caller, { candidate: id, kind: "documents", id: document }, () => {}),
    );
    const { asked, ...others } = parts();
    expect(await eraserOf(others).finish(account.id, id, new AbortController().signal)).to.equal(true);
    expect(asked).to.deep.equal([`forget ${account.id} ${id}`]);
    expect(await filesIn(service.operators.mongo)).to.deep.equal([]);
    expect((await client.get(`/candidates/${id}`)).body.name).to.equal(PERSON.name);
    await client.request("DELETE", `/candidates/${id}`);
  });

  it("is left for the next sweep if the service stops", async () => {
    const { id } = await createPerson();
    const caller = { accountId: account.id, keyId: account.keyId };
    const broken = { content: Object.assign(parts().content, { remove: crash }) };
    await interrupted(broken, (eraser) => eraser.erase(caller, id, () => {}));
    const { asked: _, ...others } = parts();
    const eraser = eraserOf(others);
    await eraser.finish(account.id, id, AbortSignal.abort());
    expect(await filesIn(service.operators.mongo), "no file is removed after the signal").to.have.length(2);
    expect(await eraser.finish(account.id, id, new AbortController().signal), "later").to.equal(true);
    expect(await filesIn(service.operators.mongo)).to.deep.equal([]);
  });

  it("is not found where there is none, and not in another account", async () => {
    const { id } = await createPerson();
    const { asked, ...others } = parts();
    const { signal } = new AbortController();
    const eraser = eraserOf(others);
    expect(await eraser.finish(account.id, id, signal)).to.equal(false);
    expect(await eraser.finish((await service.account()).id, id, signal)).to.equal(false);
    expect(asked).to.deep.equal([]);
    expect((await client.get(`/candidates/${id}`)).status).to.equal(200);
    await client.request("DELETE", `/candidates/${id}`);
  });
});
