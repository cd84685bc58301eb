import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createWebhook } from "./support.ts";

/** What may be a secret in a URL. */
const HIDDEN = "hidden-7c1e";
const URL = `https://ats.example.com:8443/${HIDDEN}?token=${HIDDEN}#${HIDDEN}`;

describe("webhooks in the audit", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  /** Returns the entries, the oldest first. */
  async function entries() {
    const { data } = await service.operators.audit.list(1_000, account.id);
    return data.filter(({ action }) => action.startsWith("webhooks")).toReversed();
  }

  it("are there with who created, changed, rotated and deleted them, and of their URLs only the host", async () => {
    const { path, webhook } = await createWebhook(client, { url: URL, description: HIDDEN });
    const { client: colleague, keyId } = await account.another();
    await colleague.patch(path, { description: "y", states: ["completed"] });
    await client.patch(path, { url: `https://b.example.com/${HIDDEN}`, enabled: false });
    await client.post(`${path}/rotate`);
    await colleague.request("DELETE", path);
    const shown = (await entries()).map(({ actor, action, subject, outcome, details }) => {
      return { actor, action, subject, outcome, details };
    });
    const of = (action: string, actor: string, details: object) => {
      return { action: `webhooks ${action}`, actor, subject: webhook.id, outcome: "done", details };
    };
    expect(shown).to.deep.equal([
      of("create", account.keyId, { host: "ats.example.com:8443" }),
      of("set", keyId, { states: "completed" }),
      of("set", account.keyId, { host: "b.example.com", enabled: false }),
      of("rotate", account.keyId, {}),
      of("delete", keyId, {}),
    ]);
    expect(JSON.stringify([await entries(), service.log])).not.to.include(HIDDEN);
  });

  it("are not there for what was read, tested, refused, or changed nothing", async () => {
    const { path } = await createWebhook(client, { url: URL });
    const before = await entries();
    await client.get(path);
    await client.post(`${path}/test`);
    await client.patch(path, { url: URL, enabled: true, description: null, states: null });
    expectProblem(await client.post("/webhooks", { url: "http://ats.example.com" }), 422, "validation_failed");
    const stale = { "If-Match": '"x"' };
    expectProblem(await client.patch(path, { description: "y" }, stale), 412, "version_mismatch");
    expectProblem(await client.request("DELETE", path, { headers: stale }), 412, "version_mismatch");
    expectProblem(await client.post("/webhooks/wh_1/rotate"), 404, "not_found");
    expect(await entries()).to.deep.equal(before);
  });
});
