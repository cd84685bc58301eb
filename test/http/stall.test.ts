import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { mock } from "node:test";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { incoming } from "../../src/http/upload.ts";
import { Problem } from "../../src/problems.ts";
import { useNoService } from "../support/use-service.ts";

/** An upload of which half has arrived. Nothing reads it yet. */
function opened(timeoutMs: number) {
  const request = Object.assign(new PassThrough(), { complete: false, headers: {} });
  const bytes = incoming(request as unknown as IncomingMessage, { maxFileBytes: 10, timeoutMs });
  request.write("half");
  return { request, bytes };
}

/** The same upload, with a reader. */
function half(timeoutMs: number) {
  const { request, bytes } = opened(timeoutMs);
  const failed = text(bytes).then(
    () => expect.fail("it ended"),
    (error: unknown) => error,
  );
  return { request, failed };
}

describe("an upload whose bytes stop coming", () => {
  useNoService();
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

  it("fails at once if the client has disconnected before it was read", async () => {
    const request = Object.assign(new PassThrough(), { complete: false, headers: {} });
    const reset = new Error("aborted");
    request.on("error", () => undefined).destroy(reset);
    await setImmediate();
    const rules = { maxFileBytes: 10, timeoutMs: 3_600_000 };
    const bytes = incoming(request as unknown as IncomingMessage, rules);
    expect(await text(bytes).catch((error: unknown) => error)).to.equal(reset);
  });

  it("does not fail while the service itself is slow to read, or once all of it has arrived", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    try {
      for (const [size, complete] of [
        [64 * 1024, false],
        [1, true],
      ] as const) {
        const request = Object.assign(new PassThrough(), { complete, headers: {} });
        const rules = { maxFileBytes: 2 ** 20, timeoutMs: 1_000 };
        const bytes = incoming(request as unknown as IncomingMessage, rules);
        request.write(Buffer.alloc(size));
        await setImmediate(); // until the bytes have passed
        mock.timers.tick(1_000);
        expect(bytes.destroyed, `${size} bytes`).to.equal(false);
        bytes.destroy();
      }
    } finally {
      mock.timers.reset();
    }
  });

  it("fails for a reader that begins after the failure", async () => {
    const { request, bytes } = opened(3_600_000);
    const reset = new Error("aborted");
    request.destroy(reset);
    await setImmediate();
    expect(await text(bytes).catch((error: unknown) => error)).to.equal(reset);
  });

  it("is read to its end and discarded once nobody wants its bytes", async () => {
    const { request, bytes } = opened(3_600_000);
    bytes.destroy();
    await once(bytes, "close");
    expect(request.readableFlowing).to.equal(true);
  });
});
