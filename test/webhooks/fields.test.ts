import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createWebhook, webhooksIn } from "./support.ts";

const url = "https://ats.example.com/hooks";

const REFUSED: [field: string, value: unknown, pointer: string, detail: RegExp][] = [
  ["url", null, "/url", /string/],
  ["url", 7, "/url", /string/],
  ["url", "", "/url", /at least 1 character/],
  ["url", `https://ats.example.com/${"x".repeat(3_000)}`, "/url", /at most 2000 characters/],
  ["url", `https://ats.example.com/${"é".repeat(1_900)}`, "/url", /2,000/],
  ["description", 7, "/description", /string or null/],
  ["description", "x".repeat(501), "/description", /at most 500 characters/],
  ["states", "completed", "/states", /array or null/],
  ["states", [], "/states", /at least 1 item/],
  ["states", ["completed", "completed"], "/states", /same item twice/],
  ["states", ["hired"], "/states/0", /one of created/],
  ["events", ["x"], "/events", /not a known field/],
  ["secret", "whsec_x", "/secret", /the service makes it/],
  ["version", 7, "/version", /read-only/],
  ["id", "wh_1", "/id", /read-only/],
  ["disabled_reason", null, "/disabled_reason", /read-only/],
  ["last_delivery", null, "/last_delivery", /read-only/],
];

function expectFault(refused: Answer, pointer: string, detail: RegExp): void {
  const { errors } = expectProblem(refused, 422, "validation_failed");
  expect(errors.map((each) => each.pointer)).to.deep.equal([pointer]);
  expect(errors[0]?.detail, pointer).to.match(detail);
}

describe("the fields of a webhook", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  it("are refused on create if they are unknown, wrong or too long", async () => {
    for (const [field, value, pointer, detail] of REFUSED)
      expectFault(await client.post("/webhooks", { url, [field]: value }), pointer, detail);
    expect(webhooksIn(await client.get("/webhooks"))).to.deep.equal([]);
  });

  it("are refused on PATCH for the same reasons, and nothing of the change is made", async () => {
    const { path, webhook } = await createWebhook(client, { url });
    for (const [field, value, pointer, detail] of REFUSED)
      expectFault(await client.patch(path, { description: "kept out", [field]: value }), pointer, detail);
    const { secret: _, ...shown } = webhook;
    expect((await client.get(path)).body).to.deep.equal(shown);
  });

  it("need a url, and take enabled only from PATCH, and there no null", async () => {
    expect(expectProblem(await client.post("/webhooks", {}), 422, "validation_failed").errors[0]).to.include({
      pointer: "/url",
    });
    const early = expectProblem(await client.post("/webhooks", { url, enabled: false }), 422, "validation_failed");
    expect(early.errors[0]?.detail).to.match(/PATCH/);
    const { path } = await createWebhook(client, { url });
    for (const enabled of [null, "false", 0])
      expect(expectProblem(await client.patch(path, { enabled }), 422, "validation_failed").errors[0]).to.include({
        pointer: "/enabled",
      });
  });

  it("are all checked at once", async () => {
    const wrong = { url: 1, description: 2, states: ["x", "y"] };
    const { errors } = expectProblem(await client.post("/webhooks", wrong), 422, "validation_failed");
    expect(errors.map(({ pointer }) => pointer)).to.have.members(["/url", "/description", "/states/0", "/states/1"]);
  });

  it("can be as long as they may be, and are given back so that they can be sent again", async () => {
    const longest = `https://ats.example.com/${"x".repeat(2_000 - 24)}`;
    const input = { url: longest, description: "🦊".repeat(500) };
    const { path, webhook } = await createWebhook(client, input);
    expect(webhook).to.include(input);
    expect((await client.patch(path, { url: webhook.url })).body).to.include({ version: 1 });
  });

  it("take no body but JSON with an object", async () => {
    for (const json of [[], "x", 7, null])
      expectProblem(await client.post("/webhooks", json), 422, "validation_failed");
    const headers = { "Content-Type": "text/plain" };
    expectProblem(await client.request("POST", "/webhooks", { headers, body: "{}" }), 415, "unsupported_media_type");
  });
});
