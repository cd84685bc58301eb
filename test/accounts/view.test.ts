import { expect } from "chai";
import { viewKey } from "../../src/accounts/view.ts";

const hour = (hours: number) => `2026-11-21T${hours}:00:00.000Z`;

describe("a key as operators see it", () => {
  it("has the time of its newest secret, and the end of the one before", () => {
    const secrets = [
      { hash: "first", created_at: hour(10), expires_at: hour(13) },
      { hash: "second", created_at: hour(11), expires_at: hour(14) },
      { hash: "third", prefix: "cos_live_abc", created_at: hour(12), expires_at: null },
    ];
    const key = { id: "key_1", name: "ats", secrets, created_at: hour(10), revoked_at: null };
    expect(viewKey("acct_1", key, hour(15))).to.deep.equal({
      object: "api_key",
      id: "key_1",
      account_id: "acct_1",
      name: "ats",
      prefix: "cos_live_abc",
      status: "active",
      created_at: hour(10),
      secret_created_at: hour(12),
      previous_secret_expires_at: hour(14),
      last_used_at: hour(15),
      revoked_at: null,
    });
    expect(viewKey("acct_1", { ...key, secrets: secrets.slice(0, 1), revoked_at: hour(12) })).to.deep.include({
      prefix: null,
      status: "revoked",
      secret_created_at: hour(10),
      previous_secret_expires_at: null,
      last_used_at: null,
      revoked_at: hour(12),
    });
  });
});
