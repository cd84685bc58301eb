import { type Mock, mock } from "node:test";
import { expect } from "chai";
import { Collection } from "mongodb";
import { useOwnService } from "../support/use-service.ts";

describe("a service that starts", () => {
  /** What MongoDB was asked to create. It is not read back, because the stand-in for MongoDB leaves out parts of it. */
  let asked: Mock<Collection["createIndexes"]>;
  before(() => {
    asked = mock.method(Collection.prototype, "createIndexes");
  });
  after(() => asked.mock.restore());
  useOwnService();

  it("creates these indexes, whose keys have this order", () => {
    const lists = asked.mock.calls.map((call) => [
      (call.this as Collection).collectionName,
      JSON.stringify(call.arguments[0]),
    ]);
    const present = (name: string) => `"partialFilterExpression":{"${name}":{"$gt":""}}`;
    expect(Object.fromEntries(lists)).to.deep.equal({
      candidates: `[${[
        '{"key":{"account":1,"change":1}}',
        '{"key":{"account":1,"state":1,"change":1}}',
        `{"key":{"account":1,"external_id":1},"unique":true,${present("external_id")}}`,
        `{"key":{"next_expiry":1},${present("next_expiry")}}`,
        `{"key":{"erasure.at":1},${present("erasure.at")}}`,
        `{"key":{"outreach.look_at":1,"account":1},${present("outreach.look_at")}}`,
        `{"key":{"account":1,"outreach.rules":1},${present("outreach.look_at")}}`,
      ].join(",")}]`,
      content_pending: '[{"key":{"created_at":1}},{"key":{"account":1,"candidate":1}}]',
      "content.files": '[{"key":{"filename":1,"uploadDate":1}}]',
      "content.chunks": '[{"key":{"files_id":1,"n":1},"unique":true}]',
      idempotency_records: '[{"key":{"created_at":1}},{"key":{"account":1,"subject":1}}]',
      audit: '[{"key":{"account":1,"at":1}},{"key":{"at":1}}]',
      grants: '[{"key":{"account":1,"created_at":1}}]',
      outreach_accounts: `[{"key":{"changed_at":1},${present("changed_at")}}]`,
      links: '[{"key":{"account":1,"candidate":1}}]',
      messages: '[{"key":{"account":1,"candidate":1}}]',
    });
  });
});
