import { randomUUID } from "node:crypto";
import { expect } from "chai";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { Fault } from "../../src/problems.ts";
import { useSharedAccount } from "../support/use-service.ts";
import { ROWS } from "./rows.ts";

type FeedRow = Candidate & { readonly deleted?: true };

describe("Thirty rows of a real pipeline", () => {
  const account = useSharedAccount();
  const entered = new Map<string, Candidate>();

  for (const [index, { row, kept, refused }] of ROWS.entries())
    it(`row ${index + 1} ${refused === undefined ? "enters" : `is refused for ${refused}`}: ${JSON.stringify(row)}`, async () => {
      const { status, body } = await account.client.post("/candidates", row, { "Idempotency-Key": randomUUID() });
      if (refused !== undefined) {
        expect(status).to.be.oneOf([409, 422]);
        const [first] = (body as unknown as { errors: Fault[] }).errors;
        expect(first?.pointer).to.equal(refused);
        return;
      }
      expect(status, JSON.stringify(body)).to.equal(201);
      expect(body).to.containSubset({ ...row, ...kept });
      entered.set(body.id, body as unknown as Candidate);
    });

  it("a mirror from the feed equals the store, erasures included", async () => {
    expect(entered.size, "rows that entered").to.equal(ROWS.filter(({ refused }) => refused === undefined).length);
    const mirror = new Map<string, FeedRow>();
    const follow = async (cursor: string): Promise<string> => {
      const { body } = await account.client.get(`/candidates?limit=7${cursor === "" ? "" : `&cursor=${cursor}`}`);
      for (const row of body.data as unknown as FeedRow[]) {
        if (row.deleted) mirror.delete(row.id);
        else mirror.set(row.id, row);
      }
      return body.has_more ? follow(body.cursor) : body.cursor;
    };
    const cursor = await follow("");
    expect(Object.fromEntries(mirror)).to.deep.equal(Object.fromEntries(entered));

    const [erased, corrected] = [...entered.keys()];
    expect((await account.client.request("DELETE", `/candidates/${erased}`)).status).to.equal(204);
    await account.client.patch(`/candidates/${corrected}`, { name: "Corrected" });
    await follow(cursor);
    const store = new Map<string, Candidate>();
    for (const id of entered.keys()) {
      const { status, body } = await account.client.get(`/candidates/${id}`);
      if (status === 200) store.set(id, body as unknown as Candidate);
      else expect([id, status]).to.deep.equal([erased, 410]);
    }
    expect(Object.fromEntries(mirror)).to.deep.equal(Object.fromEntries(store));
  });
});
