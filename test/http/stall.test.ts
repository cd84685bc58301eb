import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { incoming } from "../../src/http/incoming.ts";
import { Problem } from "../../src/problems.ts";

describe("an upload whose bytes stop coming", () => {
  it("is request_timeout, which says how long nothing came, and closes the connection", async () => {
    const request = Object.assign(new PassThrough(), { complete: false, headers: {} });
    const bytes = incoming(request as unknown as IncomingMessage, { maxBytes: 10, maxFileBytes: 10, timeoutMs: 500 });
    request.write("half");
    const failed = await text(bytes).then(
      () => expect.fail("it ended"),
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(Problem).and.include({
      code: "request_timeout",
      message: "No data arrived for 0.5 seconds, and the request body was incomplete. Send it again.",
    });
    expect((failed as Problem).extras.headers).to.deep.equal({ Connection: "close" });
  });
});
