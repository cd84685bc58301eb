import { expect } from "chai";
import type { ParsedMail } from "mailparser";
import type { CandidateOutreach } from "../../src/reminders/history-schema.ts";
import { answerOf, complaintOf, serversOf } from "../admin/support.ts";
import { answerQuestions, open, PDF, post } from "./pages/support.ts";
import { expectProblem } from "../support/client.ts";
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

  const addresses = () => mail.taken.map(({ to }) => [to].flat()[0]?.value[0]?.address ?? "").toSorted();

  /** Starts a candidate of another account. Once its mail is there, a look at what is due has passed. */
  async function look(email: string) {
    const other = (await service.account()).client;
    const count = mail.taken.length;
    const { id } = (await other.post("/candidates", { email, documents: ["CV"] })).body;
    await other.post(`/candidates/${id}/start`);
    await mail.received(count + 1);
  }

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
    const life = /This link works until \d+ \w+ 20\d\d\./.exec(text)?.[0] ?? "none";
    expect(mailTo("ada@example.com").text?.replaceAll("\n", " ")).to.contain(life);
    const action = /action="([^"]+)"/.exec(text)?.[1] ?? "";
    expect((await post(service.url + action, { content: PDF() })).status).to.equal(303);
    const [referee] = linksIn(mailTo("grace@example.com"));
    await client.patch("/settings/assistant", { language: "de", reference_questions: ["Und sonst?"] });
    await answerQuestions(referee ?? "", { 0: "For two years." });
    expect((await open(referee ?? "")).text, "in the language of its message").to.contain("Thank you");

    const candidate = (await client.get(`/candidates/${id}`)).body;
    expect(candidate.references[0]?.response, "with its questions").to.deep.equal({
      answers: [{ question: "How do you know this person, and for how long?", answer: "For two years." }],
    });
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
    const { body, status } = await client.get(`/candidates/${id}/outreach`);
    expect(status).to.equal(200);
    const { messages, ...rest } = body as unknown as CandidateOutreach;
    const { documents, outreach, references } = (await client.get(`/candidates/${id}`)).body;
    expect(rest).to.deep.equal({ object: "candidate_outreach", candidate_id: id, ...outreach });
    const facts = messages.map(({ to, outcome, tries, documents }) => ({ to, outcome, tries, documents }));
    expect(facts).to.have.deep.members([
      { to: "candidate", outcome: "sent", tries: 1, documents: [documents[0]?.id] },
      { to: references[0]?.id, outcome: "sent", tries: 1, documents: [] },
    ]);
    expect(messages.map(({ subject }) => subject)).to.have.members(mail.taken.map(({ subject }) => subject));
    const subject = mailTo("grace@example.com").subject ?? "";
    expect(subject).to.contain("Ada");
    expect(JSON.stringify(shown)).not.to.contain(subject);
    secrets.push(subject);
    const lines = service.log.map((line) => JSON.stringify(line));
    for (const secret of secrets) expect(lines.filter((line) => line.includes(secret))).to.deep.equal([]);
    const stranger = (await service.account()).client;
    expectProblem(await stranger.get(`/candidates/${id}/outreach`), 404, "not_found");
    const stored = service.operators.mongo.db.collection("messages");
    await stored.updateMany({ candidate: id }, { $unset: { subject: "" } });
    const earlier = (await client.get(`/candidates/${id}/outreach`)).body as unknown as CandidateOutreach;
    expect(earlier.messages.map(({ subject }) => subject)).to.deep.equal([null, null]);
    await client.request("DELETE", `/candidates/${id}`);
    expectProblem(await client.get(`/candidates/${id}/outreach`), 410, "candidate_deleted");
    expect(await stored.countDocuments({ candidate: id })).to.equal(0);
  });

  it("sends nothing for an imported candidate until outreach_enabled is true, and then one message each", async () => {
    const { id } = (
      await client.post("/candidates", {
        email: "ada.in@example.com",
        documents: ["Passport"],
        references: [{ email: "grace.in@example.com" }, { email: "alan.in@example.com" }],
        outreach_enabled: false,
      })
    ).body;
    const started = (await client.post(`/candidates/${id}/start`)).body;
    expect(started).to.deep.include({ state: "in_progress", outreach: { next_at: null, reason: "disabled" } });
    await look("first@example.com");
    await look("second@example.com");
    expect(addresses()).to.deep.equal(["first@example.com", "second@example.com"]);
    expect((await client.get(`/candidates/${id}`)).body).to.deep.equal(started);

    const turn = async (on: boolean) =>
      (await client.patch(`/candidates/${id}/outreach`, { outreach_enabled: on })).body.outreach;
    expect((await turn(true)).reason).to.equal(null);
    await mail.received(5);
    for (const on of [false, true, false, true]) await turn(on);
    await look("third@example.com");
    const all = ["ada.in", "alan.in", "first", "grace.in", "second", "third"];
    expect(addresses()).to.deep.equal(all.map((name) => `${name}@example.com`));
    const { documents, references } = (await client.get(`/candidates/${id}`)).body;
    expect([...documents, ...references].map(({ chase }) => chase.attempts)).to.deep.equal([1, 1, 1]);
  });

  it("counts what another system has sent, which the caps and the interval keep to", async () => {
    const now = Date.now();
    const chase = (attempts: number, hours: number) => ({
      chase: { attempts, last_at: new Date(now - hours * 3_600_000).toISOString() },
    });
    const { id } = (
      await client.post("/candidates", {
        email: "ada.old@example.com",
        documents: [{ name: "Passport", ...chase(2, 1) }],
        references: [
          { email: "grace.old@example.com", ...chase(2, 100) },
          { email: "alan.old@example.com", ...chase(3, 100) },
        ],
      })
    ).body;
    const { outreach } = (await client.post(`/candidates/${id}/start`)).body;
    expect(outreach.reason).to.equal(null);
    await mail.received(1);
    let candidate = (await client.get(`/candidates/${id}`)).body;
    for (let n = 1; candidate.references[1]?.state === "requested"; n++) {
      await look(`look.${n}@example.com`);
      candidate = (await client.get(`/candidates/${id}`)).body;
    }
    expect(addresses().filter((address) => address.includes(".old@"))).to.deep.equal(["grace.old@example.com"]);
    expect(candidate.references.map(({ state, chase: { attempts } }) => [state, attempts])).to.deep.equal([
      ["requested", 3],
      ["unresponsive", 3],
    ]);
    expect(candidate.outreach.next_at, "the candidate's").to.equal(new Date(now + 47 * 3_600_000).toISOString());
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
