import { expect } from "chai";
import { held } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

describe("PATCH /candidates/{id}/outreach", () => {
  const account = useAccount();
  const { client } = account;
  let path: string;
  beforeEach(async () => {
    path = `/candidates/${(await client.post("/candidates", { docs_chase_attempts: 7 })).body.id}`;
  });

  it("changes each cap separately; null restores the default", async () => {
    expect((await client.patch(`${path}/outreach`, { reference_chase_attempts: 0 })).body).to.include({
      docs_chase_attempts: 7,
      reference_chase_attempts: 0,
    });
    expect((await client.patch(`${path}/outreach`, { docs_chase_attempts: null })).body).to.include({
      docs_chase_attempts: 3,
      reference_chase_attempts: 0,
    });
    expect(await account.used()).to.deep.equal({ create: 1, writes: 2 });
  });

  it("turns reminders off and on, which creation can too", async () => {
    expect((await client.get(path)).body.outreach_enabled).to.equal(true);
    const off = await client.patch(`${path}/outreach`, { outreach_enabled: false });
    expect(off.body).to.include({ outreach_enabled: false, docs_chase_attempts: 7, version: 2, pack_version: 2 });
    expect(off.body.outreach, "it is not started").to.deep.equal({ next_at: null, reason: "not_started" });
    expect((await client.patch(`${path}/outreach`, { docs_chase_attempts: 1 })).body.outreach_enabled).to.equal(false);
    expect((await client.patch(`${path}/outreach`, { outreach_enabled: false })).body.version, "no change").to.equal(3);
    expect((await client.patch(`${path}/outreach`, { outreach_enabled: true })).body.outreach_enabled).to.equal(true);
    const given = { outreach_enabled: false, documents: ["CV"] };
    const created = (await client.post("/candidates", given)).body;
    const started = (await client.post(`/candidates/${created.id}/start`)).body;
    expect([created.outreach_enabled, started.outreach_enabled]).to.deep.equal([false, false]);
    expect(started.outreach).to.deep.equal({ next_at: null, reason: "disabled" });
    const [row] = (await client.get("/candidates")).body.data.slice(-1);
    expect(row, "in the list").to.deep.equal(started);
    const patched = await client.patch(`/candidates/${created.id}`, { outreach_enabled: true });
    expect(expectProblem(patched, 422, "validation_failed").errors[0]?.detail).to.contain("/outreach");
  });

  for (const none of [null, "", "false", 0]) {
    it(`never takes ${JSON.stringify(none)} for on or off`, async () => {
      for (const refused of [
        await client.patch(`${path}/outreach`, { outreach_enabled: none }),
        await client.post("/candidates", { outreach_enabled: none }),
      ]) {
        const { errors } = expectProblem(refused, 422, "validation_failed");
        expect(errors[0]?.pointer).to.equal("/outreach_enabled");
        expect(errors[0]?.detail).to.match(/^must be a boolean/);
      }
    });
  }

  it("changes the version of the compliance pack, which has the history", async () => {
    const { body } = await client.patch(`${path}/outreach`, { docs_chase_attempts: 1 });
    expect(body).to.include({ version: 2, pack_version: 2 });
  });

  it("keeps the version if nothing changes", async () => {
    const before = await client.get(path);
    const again = await client.patch(`${path}/outreach`, { docs_chase_attempts: before.body.docs_chase_attempts });
    expect(again.body).to.deep.equal(before.body);
  });

  for (const [given, detail] of [
    [{ docs_chase_attempts: -1 }, /at least 0/],
    [{ reference_chase_attempts: 101 }, /at most 100/],
    [{ docs_chase_attempts: "3" }, /an integer/],
    [{ name: "x" }, /is not a known field\. Leave it out/],
    [{ doc_chase_attempts: 1 }, /Did you mean docs_chase_attempts\?/],
  ] as const) {
    it(`refuses ${JSON.stringify(given)}`, async () => {
      const { errors } = expectProblem(await client.patch(`${path}/outreach`, given), 422, "validation_failed");
      expect(errors[0]?.detail).to.match(detail);
    });
  }

  it("refuses an If-Match that does not match the current version", async () => {
    const etag = (await client.get(path)).headers.get("etag") ?? "";
    expect((await client.patch(`${path}/outreach`, { docs_chase_attempts: 1 }, { "If-Match": etag })).status).to.equal(
      200,
    );
    expectProblem(
      await client.patch(`${path}/outreach`, { docs_chase_attempts: 2 }, { "If-Match": etag }),
      412,
      "version_mismatch",
    );
  });
});

describe("What another system has sent, at POST /candidates", () => {
  const service = useService();
  const { client } = useAccount(service);

  it("is kept in UTC", async () => {
    const last_at = "2026-01-02T03:04:05.6789+01:00";
    const { body } = await client.post("/candidates", {
      documents: [
        { name: "CV", chase: { attempts: 1000, last_at } },
        { name: "Visa", chase: { attempts: 2 } },
        { name: "Degree", chase: null },
      ],
      references: [
        { chase: { attempts: 1, last_at: "2016-12-31T23:59:60Z" } },
        { chase: { attempts: 0, last_at: "" } },
      ],
    });
    const items = [...body.documents, ...body.references];
    expect(items.map(({ chase: { attempts, last_at: at } }) => ({ attempts, last_at: at }))).to.deep.equal([
      { attempts: 1000, last_at: "2026-01-02T02:04:05.678Z" },
      { attempts: 2, last_at: null },
      { attempts: 0, last_at: null },
      { attempts: 1, last_at: "2016-12-31T23:59:59.999Z" },
      { attempts: 0, last_at: null },
    ]);
    expect((await client.get(`/candidates/${body.id}`)).body).to.deep.equal(body);
  });

  for (const [chase, pointer, detail] of [
    [{ attempts: 1, last_at: "2999-01-01T00:00:00Z" }, "/last_at", /^must be a time from 1970 to now, 20\d\d-/],
    [{ attempts: 1, last_at: "1969-12-31T23:59:59Z" }, "/last_at", /^must be a time from 1970 to now/],
    [{ attempts: 1, last_at: "2026-01-02" }, "/last_at", /^must be a timestamp with an offset/],
    [{ attempts: 0, last_at: "2026-01-02T03:04:05Z" }, "/last_at", /^must be null or left out if attempts is 0$/],
    [{ attempts: 1001 }, "/attempts", /^must be at most 1000$/],
    [{ attempts: 1.5 }, "/attempts", /^must be an integer/],
    [{ attempts: null }, "/attempts", /^must be an integer/],
    [{ last_at: null }, "/attempts", /^is required$/],
    [{ attempts: 1, last: null }, "/last", /^is not a known field/],
  ] as const) {
    it(`refuses ${JSON.stringify(chase)}, and keeps no file`, async () => {
      const before = await held(service);
      for (const given of [
        {
          documents: [
            { name: "CV", content: { data: "QQ==" } },
            { name: "Visa", chase },
          ],
        },
        { documents: [{ name: "CV", content: { data: "QQ==" } }], references: [{}, { chase }] },
      ]) {
        const { errors } = expectProblem(await client.post("/candidates", given), 422, "validation_failed");
        expect(errors).to.have.length(1);
        expect(errors[0]?.pointer).to.equal(`/${"references" in given ? "references" : "documents"}/1/chase${pointer}`);
        expect(errors[0]?.detail).to.match(detail);
      }
      expect(await held(service)).to.deep.equal(before);
    });
  }
});
