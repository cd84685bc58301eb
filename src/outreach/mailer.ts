import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createTransport } from "nodemailer";
import type { NodemailerError, SendMailOptions } from "nodemailer";
import type { Message } from "./message.ts";

/**
 * What became of a message.
 * - `sent`: the mail server took it.
 * - `deferred`: the mail server refused it for the moment, or by its policy. It was not sent.
 * - `bounced`: the mail server refused it for good, because of its recipient or its content. It was not sent.
 * - `outage`: the mail server could not be reached, or does not accept mail from this service. It was not sent.
 * - `unconfirmed`: the connection broke after the message was given to the mail server, and before its answer. It may have
 *   been sent.
 */
export interface Outcome {
  readonly kind: "sent" | "deferred" | "bounced" | "outage" | "unconfirmed";
  /** The SMTP reply code, or the code of the error. Never a text: that may hold an address. */
  readonly code: string;
}

/** Sends messages. No method fails. */
export interface Mailer {
  send(message: Message): Promise<Outcome>;
  /** Returns whether the mail server can be reached and accepts this service. */
  works(): Promise<boolean>;
  /** Closes all connections. A message that is being sent then counts as not sent, or as unconfirmed. */
  close(): void;
}

/** Connections to the mail server, and messages that are sent at once. */
export const MAX_CONNECTIONS = 5;

/** Longest waits for a connection, for its greeting, and for an answer, in milliseconds. */
const TIMEOUTS = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 60_000 };

/**
 * Sends over SMTP, with pooled connections.
 * @param url smtp://user:password@host:587 or smtps://user:password@host:465.
 */
export function smtpMailer(url: string, timeouts: Partial<typeof TIMEOUTS> = {}): Mailer {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: MAX_CONNECTIONS,
    maxRequeues: 0, // the sender decides what is sent again
    forceAuth: new URL(url).username !== "", // a server that offers no login would then refuse every recipient
    ...TIMEOUTS,
    ...timeouts,
    disableFileAccess: true,
    disableUrlAccess: true,
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
    works: () => transport.verify().catch(() => false),
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

/** @param begun whether the connection had begun to send the message's content. */
function outcomeOf({ responseCode, response, command, code }: NodemailerError, begun: boolean): Outcome {
  if (responseCode === undefined) {
    // nodemailer itself refuses an address that SMTP cannot carry
    if (code === "EENVELOPE") return { kind: "bounced", code };
    return { kind: begun ? "unconfirmed" : "outage", code: String(code) };
  }
  const answer = { code: String(responseCode) };
  // nodemailer gives an answer 421, with which a server ends the connection, the command CONN
  if (command !== "RCPT TO" && command !== "DATA") return { ...answer, kind: "outage" };
  if (NOT_LOGGED_IN.has(responseCode)) return { ...answer, kind: "outage" };
  return { ...answer, kind: responseCode < 500 || POLICY.test(response ?? "") ? "deferred" : "bounced" };
}

/**
 * Writes each message to a file, in place of sending it.
 * @param url file:///path/to/the/folder. It is created if it is missing.
 * @param onWritten is called with the path of each file.
 */
export function outboxMailer(url: string, onWritten: (path: string) => void): Mailer {
  const folder = fileURLToPath(url);
  const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
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
    works: () => Promise.resolve(true),
    close: () => undefined,
  };
}

function optionsOf({ messageId, from, to, replyTo, subject, text, html, stopUrl, language }: Message) {
  return {
    messageId: `<${messageId}>`,
    from,
    to,
    ...(replyTo === null ? {} : { replyTo: { name: "", address: replyTo } }),
    subject,
    text,
    html,
    headers: {
      "Auto-Submitted": "auto-generated", // RFC 3834
      "List-Unsubscribe": `<${stopUrl}>`, // RFC 2369
      "List-Unsubscribe-Post": "List-Unsubscribe=One-Click", // RFC 8058
      "Content-Language": language, // RFC 3282
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  } satisfies SendMailOptions;
}
