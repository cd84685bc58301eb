import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { simpleParser } from "mailparser";
import { connectionOf, type Mailer, outboxMailer, smtpMailer } from "../../src/reminders/mailer.ts";
import type { Message } from "../../src/reminders/message.ts";
import { type MailServer, startMailServer, type Treatment } from "./mail-server.ts";

let count = 0;

function messageTo(address: string, more: Partial<Message> = {}): Message {
  return {
    messageId: `message-${count++}@example.com`,
    from: { name: "Acme", address: "hr@example.com" },
    to: { name: "Ada", address },
    replyTo: "people@acme.example",
    subject: "Acme needs documents from you",
    text: "Hello Ada,\n",
    html: "<p>Hello Ada,</p>",
    stopUrl: "https://hire.example.com/u/token/stop",
    language: "en",
    ...more,
  };
}

describe("SMTP_URL", () => {
  it("demands STARTTLS, but for loopback and where it says otherwise", () => {
    const demands = (url: string) => connectionOf(url, "hire.example.com").requireTLS;
    for (const url of ["smtp://mail.example.com", "smtp://ann:x@10.0.0.7:587", "smtp://127.0.0.1/?requireTLS=true"])
      expect(demands(url), url).to.equal(true);
    for (const url of [
      "smtp://localhost:25",
      "smtp://127.0.0.1",
      "smtp://[::1]:25",
      "smtp://mail.example.com?insecure=true",
    ])
      expect(demands(url), url).to.equal(false);
  });
});

describe("Mail over SMTP", () => {
  let server: MailServer;
  let mailer: Mailer;

  before(async () => {
    server = await startMailServer();
    mailer = smtpMailer(server.url, "hire.example.com", {
      connectionTimeout: 500,
      greetingTimeout: 500,
      socketTimeout: 500,
    });
  });
  after(async () => {
    mailer.close();
    await server.stop();
  });
  beforeEach(() => {
    server.taken.length = 0;
    server.treat = () => "accept";
  });

  it("is sent with its own Message-ID, and says that a program wrote it and how to stop it", async () => {
    const message = messageTo("ada@example.com");
    expect(await mailer.send(message)).to.deep.equal({ kind: "sent", code: "250" });
    const [mail] = server.taken;
    expect(mail?.messageId).to.equal(`<${message.messageId}>`);
    expect(mail?.from?.value).to.deep.equal([{ name: "Acme", address: "hr@example.com" }]);
    expect(mail?.replyTo?.value[0]?.address).to.equal("people@acme.example");
    expect(mail?.headers.get("auto-submitted")).to.equal("auto-generated");
    const list = mail?.headers.get("list") as unknown as { unsubscribe: { url: string } };
    expect(list.unsubscribe.url).to.equal(message.stopUrl);
    expect(mail?.headerLines.find(({ key }) => key === "list-unsubscribe-post")?.line).to.equal(
      "List-Unsubscribe-Post: List-Unsubscribe=One-Click",
    );
    expect([mail?.text?.trim(), mail?.html]).to.deep.equal(["Hello Ada,", "<p>Hello Ada,</p>"]);
  });

  const CASES: [string, Treatment, string, number][] = [
    ["a recipient that is refused for the moment", { at: "rcpt", reply: 450 }, "deferred 450", 0],
    ["a recipient that is refused for good", { at: "rcpt", reply: 550 }, "bounced 550", 0],
    [
      "a recipient that policy refuses",
      { at: "rcpt", reply: 554, text: "5.7.1 Relay access denied" },
      "deferred 554",
      0,
    ],
    ["a relay that is not permitted", { at: "rcpt", reply: 550, text: "relay not permitted" }, "deferred 550", 0],
    [
      "a recipient that a relay does not know",
      { at: "rcpt", reply: 550, text: "5.1.1 User unknown in relay recipient table" },
      "bounced 550",
      0,
    ],
    ["a login that is missing", { at: "rcpt", reply: 530, text: "5.7.0 Authentication required" }, "outage 530", 0],
    ["content that is refused for the moment", { at: "data", reply: 451 }, "deferred 451", 0],
    ["content that is refused for good", { at: "data", reply: 554 }, "bounced 554", 0],
    ["a server that is about to close", { at: "rcpt", reply: 421 }, "outage 421", 0],
    ["a sender that is refused", { at: "mail", reply: 550 }, "outage 550", 0],
    ["a server that refuses the connection", { at: "connect", reply: 554 }, "outage 554", 0],
    ["a connection that breaks before the greeting", { at: "connect", drop: true }, "outage ECONNECTION", 0],
    ["a connection that breaks before the content", { at: "rcpt", drop: true }, "outage ECONNECTION", 0],
    ["a server that stalls", { at: "rcpt", stallMs: 1_000 }, "outage ETIMEDOUT", 0],
    ["a connection that breaks before the answer", { at: "answer", drop: true }, "unconfirmed ECONNECTION", 1],
  ];
  for (const [what, treatment, outcome, taken] of CASES) {
    it(`tells ${what}: ${outcome}`, async () => {
      const fresh = smtpMailer(server.url, "hire.example.com", {
        connectionTimeout: 500,
        greetingTimeout: 500,
        socketTimeout: 500,
      });
      server.treat = () => treatment;
      const { kind, code } = await fresh.send(messageTo("ada@example.com"));
      expect(`${kind} ${code}`).to.equal(outcome);
      expect(server.taken).to.have.length(taken);
      server.treat = () => "accept";
      expect((await fresh.send(messageTo("ada@example.com"))).kind, "the next one").to.equal("sent");
      fresh.close();
    });
  }

  it("is not given to a server that offers no login if there is a password: that would bounce everybody", async () => {
    const fresh = smtpMailer(server.url.replace("//", "//user:password@"), "hire.example.com");
    expect((await fresh.send(messageTo("ada@example.com"))).kind).to.equal("outage");
    expect(await fresh.fault()).to.have.property("code");
    expect(server.taken).to.have.length(0);
    fresh.close();
  });

  it("needs no password if the server offers a login, but asks for none", async () => {
    const open = await startMailServer(0, { offersLogin: true });
    const fresh = smtpMailer(open.url, "hire.example.com");
    expect(await fresh.fault()).to.equal(undefined);
    expect((await fresh.send(messageTo("ada@example.com"))).kind).to.equal("sent");
    fresh.close();
    await open.stop();
  });

  it("opens one connection for a message, and leaves it to the sender to try again", async () => {
    const fresh = smtpMailer(server.url, "hire.example.com");
    let connections = 0;
    server.treat = ({ at }) => {
      if (at === "connect") connections++;
      return { at: "connect", drop: true };
    };
    expect((await fresh.send(messageTo("ada@example.com"))).kind).to.equal("outage");
    expect(connections).to.equal(1);
    fresh.close();
  });

  it("is not sent twice if its connection breaks, however many wait", async () => {
    let breaks = 0;
    server.treat = ({ at }) => (at === "answer" && ++breaks % 3 === 0 ? { at, drop: true } : "accept");
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, n) => mailer.send(messageTo(`${n}@example.com`))),
    );
    expect(outcomes.filter(({ kind }) => kind === "unconfirmed")).to.have.length(10);
    expect(outcomes.filter(({ kind }) => kind === "sent")).to.have.length(20);
    expect(new Set(server.taken.map(({ messageId }) => messageId)).size).to.equal(30);
    expect(server.taken).to.have.length(30);
  });

  it("bounces if SMTP cannot carry the address", async () => {
    expect((await mailer.send(messageTo("a da@exa mple.com"))).kind).to.equal("bounced");
  });

  it("goes to a server without TLS only on this machine, or if the URL says so", async () => {
    const strict = smtpMailer(`${server.url}?requireTLS=true`, "hire.example.com");
    const outcome = await strict.send(messageTo("ada@example.com"));
    expect(outcome).to.deep.include({ kind: "outage", step: "STARTTLS" });
    expect((await strict.fault())?.step).to.equal("STARTTLS");
    expect(server.taken).to.have.length(0);
    strict.close();
    const insecure = smtpMailer(`${server.url}?requireTLS=true&insecure=true`, "hire.example.com");
    expect((await insecure.send(messageTo("ada@example.com"))).kind).to.equal("sent");
    insecure.close();
  });

  it("is encrypted where that is demanded", async () => {
    const encrypting = await startMailServer(0, { offersTls: true });
    const strict = smtpMailer(`${encrypting.url}?requireTLS=true&tls.rejectUnauthorized=false`, "hire.example.com");
    expect((await strict.send(messageTo("ada@example.com"))).kind).to.equal("sent");
    expect(encrypting.encrypted).to.deep.equal([true]);
    strict.close();
    await encrypting.stop();
  });

  it("introduces itself by the host of the pages, or by the name in the URL", async () => {
    const named = smtpMailer(`${server.url}?name=relay.example.net`, "hire.example.com");
    const plain = smtpMailer(server.url, "hire.example.com");
    server.names.length = 0;
    for (const each of [plain, named]) {
      await each.send(messageTo("ada@example.com"));
      each.close();
    }
    expect(server.names).to.deep.equal(["hire.example.com", "relay.example.net"]);
  });

  it("is not sent to an address that SMTP would change, and names no such address for replies", async () => {
    for (const address of ['"x\r\nRCPT TO:<q@q.com>"@example.com', '"x>,<y@z.com"@example.com'])
      expect(await mailer.send(messageTo(address))).to.deep.equal({ kind: "bounced", code: "EENVELOPE" });
    await mailer.send(messageTo("ada@example.com", { replyTo: '"x>,<y@z.com"@example.com' }));
    expect(server.taken[0]?.replyTo).to.equal(undefined);
    expect(server.taken).to.have.length(1);
  });

  it("says whether the server can be used", async () => {
    expect(await mailer.fault()).to.equal(undefined);
    server.treat = () => ({ at: "connect", reply: 554 });
    expect(await mailer.fault()).to.deep.equal({ code: "554", step: "CONN" });
  });

  it("lets no name or subject add a header or a recipient", async () => {
    const evil = "Ada\r\nBcc: victim@example.com\r\n\r\nText <x@example.com>, y@example.com";
    await mailer.send(
      messageTo("ada@example.com", {
        from: { name: evil, address: "hr@example.com" },
        to: { name: evil, address: "ada@example.com" },
        subject: evil,
        stopUrl: "https://hire.example.com/u/token/stop",
      }),
    );
    const [mail] = server.taken;
    expect(mail?.bcc).to.equal(undefined);
    expect([mail?.to].flat().flatMap((each) => each?.value.map(({ address }) => address))).to.deep.equal([
      "ada@example.com",
    ]);
    expect(mail?.from?.value.map(({ address }) => address)).to.deep.equal(["hr@example.com"]);
    expect(mail?.text?.trim()).to.equal("Hello Ada,");
  });
});

describe("Mail in the outbox", () => {
  it("is one file a message, as it would be sent", async () => {
    const folder = await mkdtemp(join(tmpdir(), "outbox-"));
    const written: string[] = [];
    const mailer = outboxMailer(pathToFileURL(join(folder, "out box")).href, (path) => void written.push(path));
    const message = messageTo("ada@example.com", { messageId: "../../evil@example.com" });
    expect(await mailer.send(message)).to.deep.equal({ kind: "sent", code: "" });
    expect(await readdir(join(folder, "out box"))).to.deep.equal([".._.._evil_example.com.eml"]);
    const mail = await simpleParser(await readFile(written[0]!));
    expect([mail.subject, mail.text?.trim()]).to.deep.equal([message.subject, "Hello Ada,"]);
    await rm(folder, { recursive: true });
  });
});
