import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { incoming } from "../../src/http/incoming.ts";
import { Problem } from "../../src/problems.ts";

/** An upload whose client has sent half of it. */
function half(timeoutMs: number) {
  const request = Object.assign(new PassThrough(), { complete: false, headers: {} });
  const bytes = incoming(request as unknown as IncomingMessage, { maxBytes: 10, maxFileBytes: 10, timeoutMs });
  request.write("half");
  const failed = text(bytes).then(
    () => expect.fail("it ended"),
    (error: unknown) => error,
  );
  return { request, failed };
}

describe("an upload whose bytes stop coming", () => {
  it("is request_timeout, which says how long nothing came, and closes the connection", async () => {
    const failed = await half(500).failed;
    expect(failed).to.be.instanceOf(Problem).and.include({
      code: "request_timeout",
      message: "No data arrived for 0.5 seconds, and the request body was incomplete. Send it again.",
    });
    expect((failed as Problem).extras.headers).to.deep.equal({ Connection: "close" });
  });

  it("fails as soon as the client has disconnected, without waiting for the time limit", async () => {
    const { request, failed } = half(3_600_000);
    const reset = new Error("aborted");
    request.destroy(reset);
    expect(await failed).to.equal(reset);
  });
});
