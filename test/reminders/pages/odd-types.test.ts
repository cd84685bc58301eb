import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open } from "./support.ts";

describe("The page of a candidate, for a browser that declares an odd type", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let url: string;
  beforeEach(async () => {
    candidate = (await client.post("/candidates", { email: "ada@example.com", documents: ["Passport"] })).body;
    await client.post(`/candidates/${candidate.id}/start`);
    url = await linkTo(service, account, candidate.id, "candidate");
  });

  const UNKNOWN = "application/octet-stream";
  for (const [type, kept] of [
    ['"application/download"', UNKNOWN],
    ["pdf", UNKNOWN],
    ["application/pdf, text/plain", UNKNOWN],
    ["é/é", UNKNOWN],
    ["", UNKNOWN],
    ['application/pdf; x="', "application/pdf"],
    ["text/csv; charset=windows-1252", "text/csv; charset=windows-1252"],
  ] as const)
    it(`takes a file of the type ${JSON.stringify(type)} as ${kept}`, async () => {
      const head = `Content-Disposition: form-data; name="content"; filename="a.pdf"\r\nContent-Type: ${type}`;
      const sent = await open(`${url}/documents/${candidate.documents[0]?.id}`, {
        method: "POST",
        body: `--b\r\n${head}\r\n\r\n%PDF\r\n--b--`,
        headers: { "Content-Type": "multipart/form-data; boundary=b" },
      });
      expect(sent.status).to.equal(303);
      const { documents } = (await client.get(`/candidates/${candidate.id}`)).body;
      expect(documents[0]?.content).to.include({ filename: "a.pdf", size: 4, content_type: kept });
    });
});
