import { expect } from "chai";
import { useAccount } from "../support/use-service.ts";

describe("If-None-Match", () => {
  const { client } = useAccount();

  it("with an asterisk is answered with 304 and the current tag: the client has some copy", async () => {
    const { body } = await client.post("/candidates");
    const path = `/candidates/${body.id}`;
    const tag = (await client.get(path, { "Accept-Encoding": "identity" })).headers.get("etag");
    const { status, headers } = await client.get(path, { "If-None-Match": "*", "Accept-Encoding": "identity" });
    expect({ status, tag: headers.get("etag") }).to.deep.equal({ status: 304, tag });
  });

  it("that names no tag, or another one, is answered with the whole representation", async () => {
    const { body } = await client.post("/candidates");
    for (const list of ["", "nonsense", '"other"', 'W/"other", "another"'])
      expect((await client.get(`/candidates/${body.id}`, { "If-None-Match": list })).status).to.equal(200);
  });

  it("changes only the answer of a read: a write is done, and its answer is whole", async () => {
    const { body } = await client.post("/candidates");
    const renamed = await client.patch(`/candidates/${body.id}`, { name: "Ann" }, { "If-None-Match": "*" });
    expect(renamed.status).to.equal(200);
    expect(renamed.body).to.include({ name: "Ann" });
  });
});
