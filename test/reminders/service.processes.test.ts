import { expect } from "chai";
import type { ParsedMail } from "mailparser";
import { answerOf, complaintOf, serversOf } from "../admin/support.ts";
import { answerQuestions, open, PDF, post } from "./pages/support.ts";
import { scrape } from "../support/metrics.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import { mailSettings, useMailServer } from "./mail-server.ts";

describe("Reminders, through a service and a mail server", function () {
  this.timeout(60_000);
  const mail = useMailServer();
  const service = useOwnService(() => ({
    ...mailSettings(mail),
  }));
  const account = useAccount(service);
  const { client } = account;

  beforeEach(() => {
    mail.taken.length = 0;
  });

  /** Returns the links in a message, at the service's own address. */
  function linksIn({ text = "" }: ParsedMail): string[] {
    const found = [...text.matchAll(/https:\/\/hire\.example\.com(\/\S+)/g)];
    return found.map(([, path]) => `${service.url}${path}`);
  }
  const mailTo = (address: string) =>
    mail.taken.find(({ to }) => [to].flat()[0]?.value[0]?.address === address) ?? expect.fail(`no mail to ${address}`);

  async function startedPerson() {
    const references = [{ name: "Grace", email: "grace@example.com" }];
    const body = { name: "Ada", email: "ada@example.com", documents: ["Passport"], references };
    const { id } = (await client.post("/candidates", body)).body;
    return (await client.post(`/candidates/${id}/start`)).body;
  }

  it("asks, takes what is sent, and is silent once the candidate is completed", async () => {
    const { id, outreach, started_at } = await startedPerson();
    expect(outreach).to.deep.equal({ next_at: started_at, reason: null });
    await mail.received(2);
    const [page, stop] = linksIn(mailTo("ada@example.com"));
    expect(stop)
      .to.match(/^\S+\/stop\?of=acct_/)
      .and.to.contain(`${page}/stop`);
    const { text } = await open(page ?? "");
    const action = /action="([^"]+)"/.exec(text)?.[1] ?? "";
    expect((await post(service.url + action, { content: PDF() })).status).to.equal(303);
    const [referee] = linksIn(mailTo("grace@example.com"));
    await answerQuestions(referee ?? "", { 0: "For two years." });

    const candidate = (await client.get(`/candidates/${id}`)).body;
    expect(candidate.documents[0]).to.deep.include({ state: "received" });
    expect(candidate.documents[0]?.chase.attempts).to.equal(1);
    expect(candidate.references[0]).to.deep.include({ state: "received" });
    await client.patch(`/candidates/${id}/documents/${candidate.documents[0]?.id}`, { state: "accepted" });
    const completed = (await client.get(`/candidates/${id}`)).body;
    expect(completed.state).to.equal("completed");
    expect(completed.outreach).to.deep.equal({ next_at: null, reason: "nothing_outstanding" });
    expect(mail.taken).to.have.length(2);
  });

  it("shows operators the plan and what was sent, counts it, and logs no address and no token", async () => {
    const { id } = await startedPerson();
    await mail.received(2);
    const env = { ...serversOf(service.config), SMTP_URL: mail.url, MAIL_FROM: "a@b.example", PUBLIC_URL: "http://a" };
    const show = async () => (await answerOf(["outreach", "show", id], env)) as Record<string, unknown>;
    let shown = await show();
    while ((shown["history"] as object[]).length < 2) shown = await show();
    expect(shown).to.include({ candidate_id: id, account_id: account.id, reason: null });
    expect(shown["next"]).to.have.length(2);
    expect((shown["history"] as { kind: string; code: string }[]).map(({ kind, code }) => [kind, code])).to.deep.equal([
      ["sent", "250"],
      ["sent", "250"],
    ]);
    const metrics = await scrape(service);
    expect(metrics.value("outreach_messages_total", { recipient: "candidate", outcome: "sent" })).to.be.above(0);
    const secrets = [
      "ada@example.com",
      "grace@example.com",
      linksIn(mailTo("ada@example.com"))[0]?.split("/").at(-1) ?? "",
    ];
    const lines = service.log.map((line) => JSON.stringify(line));
    for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).to.deep.equal([]);
  });

  it("pauses an account, and goes on where it stopped", async () => {
    const env = serversOf(service.config);
    expect(await answerOf(["outreach", "pause", "--account", account.id], env)).to.include({ account_id: account.id });
    const { id } = await startedPerson();
    const other = await service.account();
    const body = { email: "other@example.com", documents: ["CV"] };
    const { id: second } = (await other.client.post("/candidates", body)).body;
    await other.client.post(`/candidates/${second}/start`);
    await mail.received(1); // the other account's: a look at what is due has passed
    expect(mail.taken.map(({ text }) => text?.includes("Ada"))).to.deep.equal([false]);
    expect((await client.get(`/candidates/${id}`)).body.outreach).to.deep.equal({ next_at: null, reason: "disabled" });
    expect(await answerOf(["outreach", "resume", "--account", account.id], env)).to.include({ paused_at: null });
    await mail.received(3);
    expect(await complaintOf(["outreach", "pause", "--account", "acct_nobody"], env)).to.contain("acct_nobody");
    expect(await complaintOf(["outreach", "show", "cand_nobody"], env)).to.contain("There is no candidate");
    const audit = (await answerOf(["audit", "list", "--account", account.id], env)) as { data: { action: string }[] };
    expect(audit.data.slice(0, 2).map(({ action }) => action)).to.deep.equal(["outreach resume", "outreach pause"]);
  });

  it("sends nothing for a suspended account until it is resumed", async () => {
    const env = serversOf(service.config);
    const { id } = await startedPerson();
    await mail.received(2);
    await client.post(`/candidates/${id}/documents`, { name: "CV" });
    await answerOf(["accounts", "suspend", account.id], env);
    const shown = (await answerOf(["outreach", "show", id], {
      ...env,
      SMTP_URL: mail.url,
      MAIL_FROM: "a@b.example",
      PUBLIC_URL: "http://a",
    })) as object;
    expect(shown).to.include({ reason: "disabled", next_at: null });
    await answerOf(["accounts", "resume", account.id], env);
    expect((await client.get(`/candidates/${id}`)).status).to.equal(200);
  });
});

describe("Without SMTP_URL", () => {
  const service = useOwnService();
  const { client } = useAccount(service);

  it("no reminders are sent, which is logged once and shown in each candidate", async () => {
    const { id } = (await client.post("/candidates", { email: "ada@example.com", documents: ["CV"] })).body;
    const { outreach } = (await client.post(`/candidates/${id}/start`)).body;
    expect(outreach).to.deep.equal({ next_at: null, reason: "disabled" });
    expect(service.log.filter(({ msg }) => String(msg).startsWith("SMTP_URL is not set"))).to.have.length(1);
  });
});
