import { EventEmitter, once } from "node:events";
import type { AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { callbackify } from "node:util";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerSession } from "smtp-server";
import { useStarted } from "../support/use-started.ts";

/** What the server does with a message. A number is a reply code. */
export type Treatment =
  | "accept"
  | { readonly at: "connect" | "mail" | "rcpt" | "data"; readonly reply: number; readonly text?: string }
  | { readonly at: "connect" | "mail" | "rcpt"; readonly drop: true }
  | { readonly at: "rcpt"; readonly stallMs: number }
  /** Takes the whole message, and closes the connection without a response. */
  | { readonly at: "answer"; readonly drop: true };

/** A mail server on 127.0.0.1 that keeps what it takes. */
export interface MailServer {
  readonly url: string;
  /** Every message that was taken whole, in their order. */
  readonly taken: ParsedMail[];
  /** The names that clients gave in EHLO, one for each message that they began. */
  readonly names: string[];
  /** Whether each of these connections was encrypted by then. */
  readonly encrypted: boolean[];
  /** Resolves when so many messages were taken. */
  received(count: number): Promise<void>;
  /** Says what to do with the next message or connection. Accepts everything until it is set. */
  treat: (what: {
    readonly to: string | undefined;
    readonly at: "connect" | "mail" | "rcpt" | "data" | "answer";
  }) => Treatment;
  stop(): Promise<void>;
}

function refusal({ reply, text = "not this one" }: { reply: number; text?: string }): Error {
  return Object.assign(new Error(text), { responseCode: reply });
}

/** Starts a mail server. Nobody needs to log in. */
export async function startMailServer(port = 0, { offersLogin = false, offersTls = false } = {}): Promise<MailServer> {
  const server: SMTPServer = new SMTPServer({
    authOptional: true,
    disabledCommands: [...(offersLogin ? [] : ["AUTH"]), ...(offersTls ? [] : ["STARTTLS"])],
    allowInsecureAuth: true,
    disableReverseLookup: true,
    logger: false,
    onConnect: (session, done) => handle("connect", session, undefined, done),
    onMailFrom: (_, session, done) => {
      mailServer.names.push(session.hostNameAppearsAs);
      mailServer.encrypted.push(session.secure);
      handle("mail", session, undefined, done);
    },
    onRcptTo: ({ address }, session, done) => handle("rcpt", session, address, done),
    onData: (stream, session, done) => callbackify(take)(stream, session, done),
  });

  /** Takes a message. Throws what refuses it. Never ends if the connection is dropped. */
  async function take(stream: Readable, session: SMTPServerSession): Promise<void> {
    const to = session.envelope.rcptTo[0]?.address;
    const mail = await simpleParser(stream);
    const treatment = mailServer.treat({ to, at: "data" });
    if (treatment !== "accept" && treatment.at === "data") throw refusal(treatment);
    mailServer.taken.push(mail);
    arrivals.emit("mail");
    const response = mailServer.treat({ to, at: "answer" });
    if (response === "accept" || response.at !== "answer") return;
    drop(session);
    await new Promise(() => undefined);
  }

  const arrivals = new EventEmitter();

  function drop(session: SMTPServerSession): void {
    for (const connection of server.connections as Set<{
      session: SMTPServerSession;
      close(): void;
      _socket: { destroy(): void };
    }>)
      if (connection.session.id === session.id) connection._socket.destroy();
  }

  function handle(
    at: "connect" | "mail" | "rcpt",
    session: SMTPServerSession,
    to: string | undefined,
    done: (error?: Error | null) => void,
  ): void {
    const treatment = mailServer.treat({ to, at });
    if (treatment === "accept" || treatment.at !== at) return done();
    if ("reply" in treatment) return done(refusal(treatment));
    if ("stallMs" in treatment) return void setTimeout(done, treatment.stallMs);
    drop(session);
  }

  server.on("error", () => undefined); // a connection that broke
  server.listen(port, "127.0.0.1");
  await once(server.server, "listening");
  const mailServer: MailServer = {
    url: `smtp://127.0.0.1:${(server.server.address() as AddressInfo).port}`,
    taken: [],
    names: [],
    encrypted: [],
    async received(count) {
      while (mailServer.taken.length < count) await once(arrivals, "mail");
    },
    treat: () => "accept",
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
  return mailServer;
}

/** Starts a mail server before the tests of the `describe` that calls this, and stops it after them. */
/** Settings with which the service sends over a mail server. Its pages seem to be at https://hire.example.com. */
export function mailSettings({ url }: Pick<MailServer, "url">) {
  return {
    SMTP_URL: url,
    MAIL_FROM: "jobs@example.com",
    PUBLIC_URL: "https://hire.example.com/",
    MAIL_PER_MINUTE: 6_000,
  };
}

export function useMailServer(): MailServer {
  return useStarted(
    "The mail server",
    () => startMailServer(),
    (server) => server.stop(),
  );
}
