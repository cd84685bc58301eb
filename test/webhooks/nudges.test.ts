import { expect } from "chai";
import { Webhook } from "standardwebhooks";
import { useAccount, useService } from "../support/use-service.ts";
import { useReceiver } from "./receiver.ts";

describe("nudges", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  const receiver = useReceiver();

  it("tell a receiver that a candidate has changed, signed so that the package standardwebhooks verifies it", async () => {
    const created = await client.post("/webhooks", { url: `${receiver.origin}/first` });
    expect(created.status).to.equal(201);
    const candidate = await client.post("/candidates", {});
    const [nudge] = await receiver.nudges("/first", 1);
    const body = new Webhook(created.body.secret).verify(nudge?.body ?? "", nudge?.headers as Record<string, string>);
    expect(body).to.deep.include({
      type: "candidates.changed",
      data: { webhook: created.body.id, since: candidate.body.created_at },
    });
  });
});
