import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";

describe("If-None-Match", () => {
  const { client } = useAccount();

  it("changes only the answer of a read: a write is done, and its answer is whole", async () => {
    const { body } = await client.post("/candidates");
    const renamed = await client.patch(`/candidates/${body.id}`, { name: "Ann" }, { "If-None-Match": "*" });
    expect(renamed.status).to.equal(200);
    expect(renamed.body).to.include({ name: "Ann" });
  });
});
