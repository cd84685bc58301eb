import { connect, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { Body } from "../../support/client.ts";
import { useAccount, useService } from "../../support/use-service.ts";
import { linkTo, open, PDF, post } from "./support.ts";

describe("A link", () => {
  const service = useService();
  const account = useAccount(service);
  const { client } = account;
  let candidate: Body;
  let url: string;

  beforeEach(async () => {
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["CV", "Passport"] })).body;
    candidate = (await client.post(`/candidates/${id}/start`)).body;
    url = await linkTo(service, account, id, "candidate");
  });

  it("may be opened 60 times a minute, then says when it works again, in the browser's language", async () => {
    for (let n = 0; n < 60; n++) expect((await open(url)).status).to.equal(200);
    const { status, headers, text } = await open(url, { headers: { "Accept-Language": "de" } });
    expect(status).to.equal(429);
    expect(Number(headers.get("retry-after"))).to.be.within(1, 60);
    expect(text).to.contain("Bitte warten Sie einen Moment");
    expect((await post(`${url}/stop`)).status, "the messages can still be stopped").to.equal(200);
    const other = await linkTo(service, account, candidate.id, "candidate");
    expect((await open(other)).status, "another link").to.equal(200);
  });

  it("sends two files at once, and not a third", async () => {
    const form = `${url}/documents/${candidate.documents[0]?.id}`;
    const stalled = await Promise.all([upload(form), upload(form)]);
    const refused = await post(form, { content: PDF() });
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get("retry-after"))).to.equal(10);
    for (const socket of stalled) {
      socket.destroy();
      await once(socket, "close");
    }
    // The service sees a moment later that they broke off.
    while ((await post(form, { content: PDF() })).status !== 303) await wait(100);
  });

  it("sends two referee's forms at once, and not a third", async () => {
    const { id } = (await client.post(`/candidates/${candidate.id}/references`, { email: "grace@example.com" })).body;
    const form = `${await linkTo(service, account, candidate.id, id)}/questions`;
    const stalled = await Promise.all([upload(form, 'name="answer"'), upload(form, 'name="answer"')]);
    const refused = await post(form, { "answer-0": "Two years" });
    expect([refused.status, refused.text.includes(">Two years</textarea>")], "what was typed").to.deep.equal([
      429,
      true,
    ]);
    for (const socket of stalled) socket.destroy();
  });

  /** Begins a form that never ends. @param part the parameters of its first part. */
  async function upload(form: string, part = 'name="content"; filename="a.pdf"'): Promise<Socket> {
    const { port, pathname } = new URL(form);
    const socket = connect(Number(port), "127.0.0.1");
    await once(socket, "connect");
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n`,
    );
    await once(socket, "data"); // it is being handled
    socket.write(`--b\r\nContent-Disposition: form-data; ${part}\r\n\r\nx`);
    return socket;
  }
});
