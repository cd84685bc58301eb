import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { getSystemErrorName } from "node:util";
import { createTransport, type NodemailerError, type SendMailOptions } from "nodemailer";
import { isEmailAddress } from "../schema/email.ts";
import type { Message } from "./message.ts";

/**
 * What became of a message.
 * - `sent`: the mail server took it.
 * - `deferred`: the mail server refused it for the moment, or by its policy. It was not sent.
 * - `bounced`: the mail server refused it for good, because of its recipient or its content. It was not sent.
 * - `outage`: the mail server could not be reached, or does not accept mail from this service. It was not sent.
 * - `unconfirmed`: the connection broke after the message was given to the mail server, and before its reply. It may have
 *   been sent.
 */
export type Outcome = Fault & { readonly kind: "sent" | "deferred" | "bounced" | "outage" | "unconfirmed" };

export interface Fault {
  /** The SMTP reply code, or the code of the error. Never a text: that may hold an address. */
  readonly code: string;
  /** The SMTP command that was refused, `CONN` for the connection and its greeting. Absent if none was. */
  readonly step?: string;
}

/** Sends messages. No method fails. */
export interface Mailer {
  send(message: Message): Promise<Outcome>;
  /** Returns why the mail server cannot be used. Undefined if it can be reached and accepts this service. */
  fault(): Promise<Fault | undefined>;
  /** Closes all connections. A message that is being sent then counts as not sent, or as unconfirmed. */
  close(): void;
}

/** Time limits for a connection, for its greeting, and for a reply, in milliseconds. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000 };

/** A message is made of its own text alone. */
const NO_ACCESS = { disableFileAccess: true, disableUrlAccess: true };

/** Hosts whose mail travels through no network. */
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i;

/**
 * Reads SMTP_URL (operating.md). Without `?insecure=true` smtp:// demands STARTTLS (RFC 3207), except on loopback: whoever
 * can hide the server's offer of it would read the password and every link.
 * @param publicHost the name for EHLO if the URL has no `?name=`. Servers refuse the names of containers, which have no dot.
 */
export function connectionOf(smtpUrl: string, publicHost: string) {
  const url = new URL(smtpUrl);
  const own = ["name", "insecure", "requireTLS"] as const;
  const [name, insecure, requireTLS] = own.map((parameter) => url.searchParams.get(parameter));
  for (const parameter of own) url.searchParams.delete(parameter);
  const isExempt = insecure === "true" || (requireTLS !== "true" && LOOPBACK.test(url.hostname));
  return { url: url.href, name: name || publicHost, requireTLS: url.protocol === "smtp:" && !isExempt };
}

/**
 * Sends over SMTP, with pooled connections.
 * @param url smtp://user:password@host:587 or smtps://user:password@host:465.
 * @param publicHost the host of PUBLIC_URL.
 * @param connections maximum number of connections: messages that are sent at once. 5 by default.
 */
export function smtpMailer(
  url: string,
  publicHost: string,
  { connections = 5, ...timeouts }: { readonly connections?: number } & Partial<typeof TIMEOUTS> = {},
): Mailer {
  const transport = createTransport({
    ...connectionOf(url, publicHost),
    pool: true,
    maxConnections: connections,
    maxRequeues: 0, // the sender decides what is sent again
    forceAuth: new URL(url).username !== "", // a server that offers no login would then refuse every recipient
    ...TIMEOUTS,
    ...timeouts,
    ...NO_ACCESS,
  });
  /** Of each message, the stream that the connection reads from once the server accepts content. */
  const contents = new Map<unknown, Readable>();
  transport.use("stream", ({ data, message }, done) => {
    const open = message.createReadStream.bind(message);
    message.createReadStream = (options) => {
      const content = open(options);
      contents.set(data.messageId, content);
      return content;
    };
    done();
  });
  return {
    async send(message) {
      // Stored before the schema refused it: SMTP would carry another address than this one.
      if (!isEmailAddress(message.to.address)) return { kind: "bounced", code: "EENVELOPE" };
      const options = optionsOf(message);
      try {
        const { response } = await transport.sendMail(options);
        return { kind: "sent", code: /^\d{3}/.exec(response ?? "")?.[0] ?? "" };
      } catch (error) {
        return outcomeOf(error as NodemailerError, contents.get(options.messageId)?.readableDidRead ?? false);
      } finally {
        contents.delete(options.messageId);
      }
    },
    fault: () => transport.verify().then(() => undefined, faultOf),
    close: () => transport.close({ force: true }),
  };
}

/** Replies that ask for another login (RFC 4954, 6). */
const NOT_LOGGED_IN = new Set([530, 534, 535, 538]);

/**
 * Refusals that need not be about the recipient's address: by policy (RFC 3463, 3.8), of the sender's address (RFC 3463,
 * 3.2), and of relaying, by servers that give no enhanced code.
 */
const POLICY = /^5\d\d[ -](?:5\.7\.|5\.1\.[78]|(?!\d\.\d).*\brelay)/i;

function faultOf(error: NodemailerError & NodeJS.ErrnoException): Fault {
  const { responseCode, command } = error;
  return { code: String(responseCode ?? causeOf(error)), ...(command === undefined ? {} : { step: command }) };
}

/** Returns what nodemailer's ESOCKET hides: the system's own code, or that the certificate is not accepted. */
function causeOf({ code, errno, message }: NodemailerError & NodeJS.ErrnoException): string | undefined {
  if (errno !== undefined && errno < 0) return getSystemErrorName(errno);
  return code === "ESOCKET" && /certificate|altnames/i.test(message) ? "ECERTIFICATE" : code;
}

/** @param begun whether the connection had begun to send the message's content. */
function outcomeOf(error: NodemailerError, begun: boolean): Outcome {
  const { responseCode, response, command, code } = error;
  const fault = faultOf(error);
  if (responseCode === undefined) {
    // nodemailer itself refuses an address that SMTP cannot carry
    if (code === "EENVELOPE") return { kind: "bounced", code };
    return { ...fault, kind: begun ? "unconfirmed" : "outage" };
  }
  // nodemailer gives a reply 421, with which a server ends the connection, the command CONN
  const isRefusal = (command === "RCPT TO" || command === "DATA") && !NOT_LOGGED_IN.has(responseCode);
  if (!isRefusal) return { ...fault, kind: "outage" };
  return { ...fault, kind: responseCode < 500 || POLICY.test(response ?? "") ? "deferred" : "bounced" };
}

/**
 * Writes each message to a file, in place of sending it.
 * @param url file:///path/to/the/folder. It is created if it is missing.
 * @param onWritten is called with the path of each file.
 */
export function outboxMailer(url: string, onWritten: (path: string) => void): Mailer {
  const folder = fileURLToPath(url);
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows", ...NO_ACCESS });
  return {
    async send(message) {
      try {
        const { message: content } = await transport.sendMail(optionsOf(message));
        await mkdir(folder, { recursive: true });
        const path = join(folder, `${message.messageId.replaceAll(/[^\w.-]/g, "_")}.eml`);
        await writeFile(path, content as Buffer);
        onWritten(path);
        return { kind: "sent", code: "" };
      } catch (error) {
        return { kind: "outage", code: String((error as NodeJS.ErrnoException).code) };
      }
    },
    fault: () => Promise.resolve(undefined),
    close: () => undefined,
  };
}

function optionsOf({ messageId, from, to, replyTo, subject, text, html, stopUrl, language }: Message) {
  return {
    messageId: `<${messageId}>`,
    from,
    to,
    ...(replyTo === null || !isEmailAddress(replyTo) ? {} : { replyTo: { name: "", address: replyTo } }),
    subject,
    text,
    html,
    headers: {
      "Auto-Submitted": "auto-generated", // RFC 3834
      "List-Unsubscribe": `<${stopUrl}>`, // RFC 2369
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", // RFC 8058
      "Content-Language": language, // RFC 3282
    },
  } satisfies SendMailOptions;
}
