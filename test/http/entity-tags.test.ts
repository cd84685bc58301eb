import { expect } from "chai";
import { expectProblem } from "../support/client.ts";
import { useAccount } from "../support/use-service.ts";

describe("If-None-Match", () => {
  const { client } = useAccount();

  it("changes only the response of a read: a write is done, and its response is whole", async () => {
    const { body } = await client.post("/candidates");
    const renamed = await client.patch(`/candidates/${body.id}`, { name: "Ann" }, { "If-None-Match": "*" });
    expect(renamed.status).to.equal(200);
    expect(renamed.body).to.include({ name: "Ann" });
  });
});

describe("If-Match with a tag that a compressing proxy has made weak", () => {
  const { client } = useAccount();

  it("is 412, and its detail says so. Without the W/ the write is done", async () => {
    const created = await client.post("/candidates");
    const tag = created.headers.get("etag") ?? "";
    const patch = (header: string) =>
      client.patch(`/candidates/${created.body.id}`, { name: "Ann" }, { "If-Match": header });
    const refused = expectProblem(await patch(`W/${tag}`), 412, "version_mismatch");
    expect(refused.detail)
      .to.match(/weak entity tag/)
      .and.not.match(/changed/);
    expect(refused).to.include({ current_etag: tag });
    expect((await patch(tag)).status).to.equal(200);
  });
});
