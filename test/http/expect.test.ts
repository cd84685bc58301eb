import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect } from "chai";
import { useAccount, useService } from "../support/use-service.ts";

describe("A request with the header Expect", () => {
  const service = useService();
  const account = useAccount(service);

  for (const Expect of ["100-continue", "miracles"])
    it(`is answered as without it, if it is ${Expect}`, async () => {
      const headers = { Expect, Authorization: `Bearer ${account.key}`, "Content-Type": "application/json" };
      const sent = request(`${service.url}/candidates`, { method: "POST", headers });
      sent.end("{}");
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).to.equal(201);
    });
});
