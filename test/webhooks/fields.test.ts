import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { createWebhook, webhooksIn } from "./support.ts";

const url = "https://ats.example.com/hooks";

const REFUSED: [field: string, value: unknown, pointer: string, detail: RegExp][] = [
  ["url", null, "/url", /string/],
  ["url", `https://ats.example.com/${"x".repeat(3_000)}`, "/url", /at most 2000 characters/],
  ["url", `https://ats.example.com/${"é".repeat(1_900)}`, "/url", /2,000/],
  ["description", "x".repeat(501), "/description", /at most 500 characters/],
  ["states", [], "/states", /at least 1 item/],
  ["states", ["completed", "completed"], "/states", /same item twice/],
  ["states", ["hired"], "/states/0", /one of created/],
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

  it("are refused if they are unknown, wrong or too long, on create and PATCH, and nothing of the change is made", async () => {
    const { path, webhook } = await createWebhook(client, { url });
    for (const [field, value, pointer, detail] of REFUSED) {
      expectFault(await client.post("/webhooks", { url, [field]: value }), pointer, detail);
      expectFault(await client.patch(path, { description: "kept out", [field]: value }), pointer, detail);
    }
    const { secret: _, ...shown } = webhook;
    expect(webhooksIn(await client.get("/webhooks"))).to.deep.equal([shown]);
  });

  it("need a url, and take enabled only from PATCH, and there no null", async () => {
    expectFault(await client.post("/webhooks", {}), "/url", /required/);
    expectFault(await client.post("/webhooks", { url, enabled: false }), "/enabled", /PATCH/);
    const { path } = await createWebhook(client, { url });
    expectFault(await client.patch(path, { enabled: null }), "/enabled", /boolean/);
  });

  it("can be as long as they may be, and are given back so that they can be sent again", async () => {
    const longest = `https://ats.example.com/${"x".repeat(2_000 - 24)}`;
    const input = { url: longest, description: "🦊".repeat(500) };
    const { path, webhook } = await createWebhook(client, input);
    expect(webhook).to.include(input);
    expect((await client.patch(path, { url: webhook.url })).body).to.include({ version: 1 });
  });
});
