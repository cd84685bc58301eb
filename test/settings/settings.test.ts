import { expect } from "chai";
import { ASSISTANT_DEFAULTS, QUIET_HOURS_DEFAULTS } from "../../src/settings/schema.ts";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const KINDS = [
  {
    path: "/settings/assistant",
    fresh: {
      object: "assistant_settings",
      ...ASSISTANT_DEFAULTS,
      message_language: "en",
      version: 0,
      updated_at: null,
    },
    change: {
      display_name: "Zoë 🦊",
      reply_to: "hr@example.com",
      language: "pt-BR",
      channels: ["sms", "email"],
      instructions: "Be kind.\nBe brief.",
    },
    field: "chase_interval_hours",
    values: [24, 36, 48],
  },
  {
    path: "/settings/quiet-hours",
    fresh: {
      object: "quiet_hours_settings",
      ...QUIET_HOURS_DEFAULTS,
      effective: { quiet_now: false, next_start: null, next_end: null },
      version: 0,
      updated_at: null,
    },
    change: { timezone: "Asia/Kolkata", end: "07:30", days: ["sun", "mon"] },
    field: "start",
    values: ["20:00", "20:30", "21:00"],
  },
] as const;

for (const { path, fresh, change, field, values } of KINDS) {
  describe(`GET and PATCH ${path}`, () => {
    const service = useService();
    const account = useAccount(service);
    const { client } = account;

    const tagOf = ({ headers }: Answer) => headers.get("etag") ?? "";

    it("give a new account the defaults", async () => {
      const response = await client.get(path);
      expect(response.status).to.equal(200);
      expect(response.body).to.deep.equal(fresh);
      expect(response.headers.get("cache-control")).to.equal("private, no-cache");
    });

    it("merge: an absent field stays, null restores the default, and a list is replaced", async () => {
      const changed = await client.patch(path, change);
      expect(changed.status).to.equal(200);
      expect(changed.body).to.deep.include({ ...fresh, ...change, version: 1, updated_at: changed.body.updated_at });
      expect(Date.parse(changed.body.updated_at)).to.be.closeTo(Date.now(), 60_000);
      expect((await client.patch(path, { [field]: values[0] })).body).to.deep.include({
        ...change,
        [field]: values[0],
        version: 2,
      });
      const nulls = Object.fromEntries([...Object.keys(change), field].map((name) => [name, null]));
      const cleared = await client.patch(path, nulls);
      expect(cleared.body).to.deep.equal({ ...fresh, version: 3, updated_at: cleared.body.updated_at });
      expect((await client.get(path)).body).to.deep.equal(cleared.body);
    });

    it("keep the version if nothing changes", async () => {
      const first = await client.patch(path, change);
      for (const again of [{}, change]) expect((await client.patch(path, again)).body).to.deep.equal(first.body);
    });

    it("charge only settings for a change, and only reads for a read", async () => {
      await client.patch(path, {});
      await client.patch(path, { [field]: "wrong" });
      expect(await account.used()).to.deep.equal({ settings: 2 });
      await client.get(path);
      expect(await account.used()).to.deep.equal({ settings: 2, reads: 1 });
    });

    it("refuse the 21st change with 429, and still serve reads", async () => {
      const responses = await Promise.all(Array.from({ length: 21 }, () => client.patch(path, {})));
      const refused = responses.filter(({ status }) => status !== 200);
      expect(refused).to.have.length(1);
      expect(expectProblem(refused[0]!, 429, "rate_limited")).to.include({
        surface: "settings",
        scope: "key",
        limit: 20,
      });
      expect((await client.get(path)).status).to.equal(200);
    });

    it("share the settings between an account's keys, but not between accounts", async () => {
      await client.patch(path, change);
      const { client: sibling } = await account.another();
      expect((await sibling.get(path)).body).to.deep.include(change);
      const { client: stranger } = await service.account();
      expect((await stranger.get(path)).body).to.deep.equal(fresh);
      await stranger.patch(path, { [field]: values[0] });
      expect((await client.get(path)).body).to.deep.include({ ...change, [field]: fresh[field as keyof typeof fresh] });
    });

    it("give a change and a read the same ETag, and 304 to a read that has it", async () => {
      const before = tagOf(await client.get(path));
      const changed = await client.patch(path, change);
      const read = await client.get(path);
      expect(tagOf(read))
        .to.match(/^"[\w.-]+"$/)
        .and.equal(tagOf(changed));
      expect(tagOf(read)).not.to.equal(before);
      expect((await client.get(path, { "If-None-Match": tagOf(read) })).status).to.equal(304);
      expect((await client.get(path, { "If-None-Match": before })).status).to.equal(200);
    });

    it("honour If-Match, and name the current ETag in the refusal", async () => {
      const first = tagOf(await client.get(path));
      expect((await client.patch(path, { [field]: values[0] }, { "If-Match": first })).status).to.equal(200);
      const stale = expectProblem(
        await client.patch(path, { [field]: values[1] }, { "If-Match": first }),
        412,
        "version_mismatch",
      );
      expect((await client.get(path)).body).to.deep.include({ [field]: values[0], version: 1 });
      const { current_etag } = stale as unknown as { current_etag: string };
      expect((await client.patch(path, { [field]: values[1] }, { "If-Match": current_etag })).status).to.equal(200);
      expect((await client.patch(path, { [field]: values[2] }, { "If-Match": "*" })).status).to.equal(200);
    });

    it("refuse unknown fields with the nearest known name, and derived fields with what to use instead", async () => {
      const given = { [`${field}s`]: values[0], version: 7, object: "x", updated_at: "x" };
      const { errors } = expectProblem(await client.patch(path, given), 422, "validation_failed");
      expect(errors).to.have.length(4);
      expect(errors.find(({ pointer }) => pointer === `/${field}s`)?.detail).to.equal(
        `is not a known field. Did you mean ${field}?`,
      );
      expect(errors.find(({ pointer }) => pointer === "/version")?.detail).to.match(/If-Match/);
    });
  });
}

describe("Quiet hours in a time zone that this runtime does not know", () => {
  const service = useService();
  const account = useAccount(service);

  it("are shown as quiet that never ends", async () => {
    const values = JSON.stringify({ enabled: true, timezone: "Mars/Olympus" }); // a replica with a newer tz database wrote it
    const stored = { version: 1, updated_at: "2026-11-27T10:00:00.000Z", values };
    await service.operators.mongo.db
      .collection<typeof stored & { _id: string }>("quiet_hours_settings")
      .insertOne({ _id: account.id, ...stored });
    const { status, body } = await account.client.get("/settings/quiet-hours");
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      timezone: "Mars/Olympus",
      effective: { quiet_now: true, next_start: null, next_end: null },
    });
  });
});
