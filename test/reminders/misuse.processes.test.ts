import { randomBytes } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { expect } from "chai";
import type { ParsedMail } from "mailparser";
import { answerOf, complaintOf, mistakeOf, serversOf } from "../admin/support.ts";
import { open, post } from "./pages/support.ts";
import type { Body } from "../support/client.ts";
import { scrape } from "../support/metrics.ts";
import { useOwnService } from "../support/use-service.ts";
import { mailSettings, useMailServer } from "./mail-server.ts";

const DAY_MS = 86_400_000;
const tomorrow = () => new Date((Math.floor(Date.now() / DAY_MS) + 1) * DAY_MS).toISOString();

describe("Mail that somebody could misuse", function () {
  this.timeout(60_000);
  const mail = useMailServer();
  const service = useOwnService(() => ({
    ...mailSettings(mail),
    LIMIT_SCALE: 1_000,
    MAIL_PER_ACCOUNT_PER_DAY: 6,
    MAIL_NEW_ADDRESSES_PER_DAY: 4,
    MAIL_PER_ADDRESS_PER_DAY: 2,
  }));
  let account: Awaited<ReturnType<typeof service.account>>;
  beforeEach(async () => {
    account = await service.account();
    mail.taken.length = 0;
  });

  async function started(email: string, more: object = {}): Promise<Body> {
    const { id } = (await account.client.post("/candidates", { email, documents: ["CV"], ...more })).body;
    return (await account.client.post(`/candidates/${id}/start`)).body;
  }
  const read = async ({ id }: Body) => (await account.client.get(`/candidates/${id}`)).body;
  const admin = (...args: string[]) => answerOf(["outreach", ...args], serversOf(service.config));
  const of = () => ["--account", account.id];
  const numbered = () => `p${numbers++}@example.com`;
  let numbers = 0;

  /** Reads candidates until `fits` is true of all. */
  async function until(candidates: readonly Body[], fits: (candidate: Body) => boolean): Promise<Body[]> {
    for (;;) {
      const now = await Promise.all(candidates.map(read));
      if (now.every(fits)) return now;
      await wait(100);
    }
  }
  const isHeld = ({ outreach }: Body) => outreach.reason === "mail_limit";
  const isSent = ({ documents }: Body) => documents[0]?.chase.attempts === 1;

  it("waits for the next day once the account's new addresses are used up, and goes out if an operator raises them", async () => {
    const candidates: Body[] = [];
    for (let n = 0; n < 6; n++) candidates.push(await started(numbered()));
    const settled = await until(candidates, (each) => isSent(each) || isHeld(each));
    expect(settled.filter(isSent)).to.have.length(4);
    for (const { outreach } of settled.filter(isHeld))
      expect(outreach).to.deep.equal({ next_at: tomorrow(), reason: "mail_limit" });
    const terms = ["--expires-in-hours", "1", "--approved-by", "Ann", "--reason", "import"];
    const raised = await admin("raise", ...of(), "--per-day", "100", "--new-per-day", "100", ...terms);
    expect(raised).to.deep.include({ account_id: account.id, per_day: 100, new_per_day: 100, approved_by: "Ann" });
    await until(candidates, isSent);
    const { data } = (await answerOf(["audit", "list", ...of()], serversOf(service.config))) as { data: object[] };
    expect(data[0]).to.deep.include({ action: "outreach raise", outcome: "done" });
  });

  it("waits once the account's messages are used up, new addresses or not", async () => {
    const [one, other, third] = [numbered(), numbered(), numbered()];
    const six = await Promise.all([one, one, other, other, third, third].map((email) => started(email)));
    await until(six, isSent);
    await until([await started(one)], isHeld);
    await until([await started(numbered())], isHeld);
  });

  it("reaches one address so often a day, from all accounts together, also under other spellings", async () => {
    const victim = `victim${numbers++}`;
    await until([await started(`${victim}@gmail.com`)], isSent);
    account = await service.account();
    await until([await started(`${victim}+1@gmail.com`)], isSent);
    account = await service.account();
    const [{ outreach }] = (await until([await started(`V.${victim.slice(1)}@gmail.com`)], isHeld)) as [Body];
    expect(outreach.next_at).to.equal(tomorrow());
  });

  it("is never sent again to somebody who stopped it: about any candidate of the account, past and future", async () => {
    const email = numbered();
    const past = await started(email, { documents: [{ name: "CV", state: "received" }] });
    const first = await started(email, { references: [{ email: numbered() }] });
    await until([first], isSent);
    await stop(email);
    const future = await started(email.toUpperCase());
    const asReferee = await started(numbered(), { references: [{ email }] });
    const changed = (await account.client.post("/candidates", { documents: ["CV"] })).body;
    await account.client.patch(`/candidates/${changed.id}`, { email });
    await account.client.post(`/candidates/${changed.id}/references`, { email });
    const codes = (await read(changed)).waiting_on.map(({ code }) => code);
    expect(codes).to.include.members(["candidate_opted_out", "reference_opted_out"]);
    for (const each of await Promise.all([first, future].map(read))) {
      expect(each.waiting_on.map(({ code }) => code)).to.include("candidate_opted_out");
      if (each.id === future.id) expect(each.outreach).to.deep.equal({ next_at: null, reason: "opted_out" });
    }
    const rehearsed = await account.client.post("/candidates?dry_run=true", { email, documents: ["CV"] });
    const { would_create } = rehearsed.body as unknown as { would_create: Body };
    expect(would_create.waiting_on.map(({ code }) => code)).to.include("candidate_opted_out");
    expect((await read(asReferee)).waiting_on.map(({ code }) => code)).to.include("reference_opted_out");
    await until([past], ({ waiting_on }) => waiting_on.some(({ code }) => code === "candidate_opted_out"));
    await account.client.patch(`/candidates/${past.id}/documents/${past.documents[0]?.id}`, { state: "requested" });
    await until([await started(numbered())], isSent); // the sender has passed
    expect(mail.taken.filter(({ to }) => addressOf({ to } as ParsedMail) === email)).to.have.length(1);

    expect(await admin("opt-outs", ...of()))
      .to.have.property("data")
      .with.length(1);
    const listed = (await admin("opt-outs", ...of())) as { data: object[] };
    expect(listed.data[0]).to.have.keys(["at", "candidate_id"]);
    expect(JSON.stringify(listed)).to.not.contain(email);
    expect(await admin("allow", ...of(), "--address", email)).to.deep.include({ lifted: true });
    await until([future], ({ outreach }) => outreach.reason !== "opted_out");
    expect(await admin("opt-outs", ...of())).to.deep.include({ data: [] });
    const { data } = (await answerOf(["audit", "list", ...of()], serversOf(service.config))) as { data: object[] };
    expect(data[0]).to.deep.include({ action: "outreach allow", outcome: "done" });
    expect(JSON.stringify(data)).to.not.contain(email);
    const again = ["outreach", "allow", ...of(), "--address", email];
    expect(await complaintOf(again, serversOf(service.config))).to.contain("has not opted out");
  });

  it("stays stopped when the candidate is erased", async () => {
    const email = numbered();
    const { id } = await started(email);
    await mail.received(1);
    await stop(email);
    await account.client.request("DELETE", `/candidates/${id}`);
    expect((await started(email)).outreach.reason).to.equal("opted_out");
    expect(await admin("opt-outs", ...of())).to.deep.include.keys("data");
    const { data } = (await admin("opt-outs", ...of())) as { data: object[] };
    expect(data).to.have.length(1);
    expect(data[0]).to.include({ candidate_id: null });
  });

  it("can be stopped by the button of the mail program after the candidate, or the reference, was deleted", async () => {
    const [email, referee] = [numbered(), numbered()];
    const candidate = await started(email, { references: [{ email: referee }] });
    await mail.received(2);
    await account.client.request("DELETE", `/references/${candidate.references[0]?.id}`);
    await account.client.request("DELETE", `/candidates/${candidate.id}`);
    const urls = [email, referee].map((to) => {
      const text = mail.taken.find((each) => addressOf(each) === to)?.text ?? "";
      return /https:\/\/hire\.example\.com(\S+\/stop\S+)/.exec(text)?.[1]?.replace(/^/, service.url) ?? "";
    });
    for (const url of urls)
      expect((await open(url.replace(/.$/, (last) => (last === "A" ? "B" : "A")))).status, "forged").to.equal(404);
    const wrong = Array.from({ length: 25 }, () => open(`${service.url}/u/${randomBytes(32).toString("base64url")}`));
    expect(
      (await Promise.all(wrong)).map(({ status }) => status),
      "too many wrong links",
    ).to.include(429);
    for (const [n, to] of [email, referee].entries()) {
      const url = urls[n] ?? "";
      expect((await open(url)).text).to.contain("<form");
      const { text } = await post(url);
      expect(text)
        .to.contain("will send no more messages to this address")
        .and.not.to.contain("the links that you have");
      expect((await started(to)).outreach.reason).to.equal("opted_out");
    }
  });

  it("leads to no page once its account is suspended, but can still be stopped", async () => {
    const email = numbered();
    await started(email);
    await mail.received(1);
    const [, page = ""] = /https:\/\/hire\.example\.com(\/u\/[\w-]+)\s/.exec(mail.taken[0]?.text ?? "") ?? [];
    expect((await open(service.url + page)).status).to.equal(200);
    await answerOf(["accounts", "suspend", account.id], serversOf(service.config));
    expect((await open(service.url + page)).status).to.equal(410);
    expect((await open(`${service.url}${page}/stop`)).text).to.contain("<form");
  });

  it("shows in a minute who sends it", async () => {
    const [one, other] = [numbered(), numbered()];
    await until([await started(one), await started(other)], isSent);
    await mail.received(2);
    await stop(other);
    const isLogged = (line: Record<string, unknown>) => line["msg"] === "reminder" && line["account"] === account.id;
    while (service.log.filter(isLogged).length < 2) await wait(20);
    const { data } = (await admin("top", "--hours", "24")) as { data: { account_id: string; messages: number }[] };
    const own = data.find((each) => each.account_id === account.id);
    expect(own).to.deep.include({ name: "Test", messages: 2, new_addresses: 2, opted_out: 1, bounced: 0 });
    expect(data.map(({ messages }) => messages)).to.deep.equal(
      data.map(({ messages }) => messages).toSorted((a, b) => b - a),
    );
    expect(service.log.find(isLogged)).to.include({ kind: "sent" });
    const metrics = await scrape(service);
    expect(metrics.value("outreach_messages_today", {})).to.be.at.least(2);
    expect(metrics.value("outreach_messages_today_of_one_account", {})).to.be.at.least(2);
    expect(await mistakeOf(["outreach", "top", "--hours", "0"], serversOf(service.config))).to.contain("1 to 720");
  });

  const addressOf = ({ to }: ParsedMail) => [to].flat()[0]?.value[0]?.address;

  /** Stops the messages by the link that was sent to an address. */
  async function stop(email: string): Promise<void> {
    while (!mail.taken.some((message) => addressOf(message) === email)) await wait(50);
    const message = mail.taken.find((each) => addressOf(each) === email);
    const path = /https:\/\/hire\.example\.com(\/u\/\S+?)(?:\/stop)?\s/.exec(message?.text ?? "")?.[1] ?? "";
    expect((await post(`${service.url}${path}/stop`)).status).to.equal(200);
    expect((await open(`${service.url}${path}/stop`)).text).to.not.contain("<form");
  }
});
