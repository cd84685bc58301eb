import type { ClientRequest } from "node:http";
import { setTimeout } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import { until } from "../erasure/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { answerTo, candidateWithDocument, download, emptyContent, held, NOTHING_HELD, opened, put } from "./support.ts";

/** More than one chunk, so that part of it is in the database when the upload is cut off. */
const PART = Buffer.alloc(300 * 1024, "x");

describe("an upload", () => {
  const service = useService({ BODY_TIMEOUT_MS: 400 });
  const { client } = useAccount(service);
  let candidate: string;
  let content: string;
  beforeEach(async () => {
    await emptyContent(service);
    ({ candidate, content } = await candidateWithDocument(client));
  });

  const HEAD =
    '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nCV\r\n--b\r\nContent-Disposition: form-data; name="content"; filename="a"\r\n\r\n';
  const WAYS: Record<string, () => ClientRequest> = {
    PUT: () => opened(client, "PUT", content, { "Content-Type": "application/pdf", "Content-Length": 1_000_000 }),
    form: () => {
      const sent = opened(client, "POST", `${candidate}/documents`, {
        "Content-Type": "multipart/form-data; boundary=b",
        "Content-Length": 1_000_000,
      });
      sent.write(HEAD);
      return sent;
    },
  };

  for (const [way, open] of Object.entries(WAYS)) {
    it(`leaves nothing if the client disconnects (${way})`, async () => {
      const sent = open();
      sent.write(PART);
      // MongoDB's driver writes the record of the file last, so wait for the bytes.
      await until(async () => (await held(service)).chunks === 1);
      sent.destroy();
      await until(async () => isDeepStrictEqual(await held(service), NOTHING_HELD));
      expect((await client.get(candidate)).body.documents).to.have.length(1);
      expectProblem(await client.get(content), 404, "content_not_available");
      expect((await put(client, content, "whole")).status).to.equal(200);
      expect((await download(client, content)).bytes.toString()).to.equal("whole");
    });

    it(`is answered with 408 if the client stops sending (${way})`, async () => {
      const sent = open();
      sent.write(PART);
      const response = await answerTo(sent);
      expect(response).to.deep.include({ status: 408 });
      expect(response.body.code).to.equal("request_timeout");
      expect(await held(service)).to.deep.equal(NOTHING_HELD);
      expect((await put(client, content, "whole")).status).to.equal(200);
    });
  }

  it("succeeds with a slow client: the timeout applies to each pause, not to the whole upload", async () => {
    const sent = opened(client, "PUT", content, { "Content-Type": "application/pdf", "Content-Length": 4 });
    for (const byte of "slow") {
      await setTimeout(200);
      sent.write(byte);
    }
    expect(await answerTo(sent)).to.deep.include({ status: 200 });
    expect((await download(client, content)).bytes.toString()).to.equal("slow");
  });
});
