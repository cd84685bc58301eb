import { expect } from "chai";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open, PDF, post } from "./support.ts";

describe("The page of a candidate with many documents", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;

  it("asks for 25 documents at once, and says how many follow", async () => {
    const documents = Array.from({ length: 27 }, (_, n) => `Document ${n}`);
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents })).body;
    const { documents: all } = (await client.post(`/candidates/${id}/start`)).body;
    const page = await linkTo(service, account, id, "candidate");
    const { text } = await open(page);
    expect(text.match(/<form /g)).to.have.length(25);
    expect(text).to.contain("2 more to send.");
    await post(`${page}/documents/${all[0]?.id}`, { content: PDF() });
    const then = (await open(page)).text;
    expect(then).to.contain("Document 25").and.to.contain("1 more to send.").and.not.to.contain("Document 26");
  });

  it("asks for required documents first, however many others there are", async () => {
    const optional = Array.from({ length: 30 }, (_, n) => ({ name: `Optional ${n}`, required: false }));
    const given = { email: "ada@example.com", documents: [...optional, { name: "Passport" }] };
    const { id } = (await client.post("/candidates", given)).body;
    await client.post(`/candidates/${id}/start`);
    const { text } = await open(await linkTo(service, account, id, "candidate"));
    const names = [...text.matchAll(/<h2 [^>]*>(.*?)<\/h2>/g)].map(([, name]) => name);
    expect(names.slice(0, 2)).to.deep.equal(["Passport", "Optional 0"]);
    expect(names).to.have.length(25);
  });

  it("lists every document that has arrived, because each can be replaced", async () => {
    const received = Array.from({ length: 199 }, (_, n) => ({ name: `Sent ${n}`, state: "received" }));
    const given = { email: "ada@example.com", documents: [...received, { name: "Passport" }] };
    const { id } = (await client.post("/candidates", given)).body;
    await client.post(`/candidates/${id}/start`);
    const { text } = await open(await linkTo(service, account, id, "candidate"));
    expect(text.match(/<summary>Send another file instead/g)).to.have.length(199);
    expect(text).to.contain(">Sent 198</h2>");
  });

  it("lets a file be replaced until it is reviewed", async () => {
    const given = { email: "ada@example.com", documents: ["Passport", "CV"] };
    const { id } = (await client.post("/candidates", given)).body;
    const { documents } = (await client.post(`/candidates/${id}/start`)).body;
    const page = await linkTo(service, account, id, "candidate");
    const form = `${page}/documents/${documents[0]?.id}`;
    await post(form, { content: PDF("first.pdf") });
    expect((await open(page)).text).to.contain("Send another file instead");
    expect((await post(form, { content: new File(["x".repeat(104_900)], "second.jpg") })).status).to.equal(303);
    expect((await open(page)).text).to.contain("Received: second.jpg, 102.4\u00a0kB");
    await client.patch(`/candidates/${id}`, { hold: { reason: "Dispute" } });
    const held = await post(form, { content: PDF("held.pdf") });
    expect([held.status, held.text.includes("Dispute")]).to.deep.equal([409, false]);
    await client.patch(`/candidates/${id}`, { hold: null });
    for (const state of ["accepted", "waived"]) {
      await client.patch(`/candidates/${id}/documents/${documents[0]?.id}`, { state });
      expect((await post(form, { content: PDF("late.pdf") })).status, state).to.equal(409);
    }
    const [document] = (await client.get(`/candidates/${id}`)).body.documents;
    expect(document?.content?.filename).to.equal("second.jpg");
  });

  it("tells documents of one name apart by number and date", async () => {
    const given = { email: "ada@example.com", documents: ["Payslip", "CV", "Payslip"] };
    const { id } = (await client.post("/candidates", given)).body;
    const { documents } = (await client.post(`/candidates/${id}/start`)).body;
    const page = await linkTo(service, account, id, "candidate");
    await post(`${page}/documents/${documents[2]?.id}`, { content: PDF() });
    const { text } = await open(page);
    const which = documents.map((document) => {
      const heading = `id="name-${document.id}">Payslip <small>`;
      const found = new RegExp(`${heading}(\\d of 2), asked for on \\d+ \\w+ 20\\d\\d</small></h2>`).exec(text);
      return found?.[1];
    });
    expect(which).to.deep.equal(["1 of 2", undefined, "2 of 2"]);
  });
});
