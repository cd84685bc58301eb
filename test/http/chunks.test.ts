import { connect, type Socket } from "node:net";
import { expect } from "chai";
import { linkTo } from "../reminders/pages/support.ts";
import { useAccount, useService } from "../support/use-service.ts";

const TINY = "1\r\n \r\n";
/** Few enough for a client that sends each token of its JSON by itself. */
const ALLOWED = 9_000;

/** Unlike `once`, it does not fail if the connection is reset. */
const next = (socket: Socket, event: string) => new Promise((resolve) => socket.once(event, resolve));

describe("A body in chunks of one byte", () => {
  const service = useService();
  const account = useAccount(service);
  let paths: Record<"create" | "content" | "page" | "referee", string>;

  beforeEach(async () => {
    const { client } = account;
    const { body } = await client.post("/candidates", {
      email: "ada@example.com",
      documents: ["CV"],
      references: [{ email: "grace@example.com" }],
    });
    const { id, documents, references } = (await client.post(`/candidates/${body.id}/start`)).body;
    const document = `/documents/${documents[0]?.id}`;
    const referee = await linkTo(service, account, id, references[0]?.id ?? "");
    paths = {
      create: "/candidates",
      content: `/candidates/${id}${document}/content`,
      page: new URL((await linkTo(service, account, id, "candidate")) + document).pathname,
      referee: new URL(`${referee}/questions`).pathname,
    };
  });

  /** Sends the chunks, and what follows them. @returns all that the service sends until it closes the connection. */
  async function answerTo(head: string, chunks: number, last = "0\r\n\r\n"): Promise<string> {
    const socket = connect(service.port, "127.0.0.1");
    let received = "";
    socket.on("error", () => undefined).setEncoding("utf8");
    socket.on("data", (data: string) => (received += data));
    socket.write(`${head}\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${TINY.repeat(chunks)}${last}`);
    await next(socket, "close");
    return received;
  }
  const withKey = (type: string) => `\r\nAuthorization: Bearer ${account.key}\r\nContent-Type: ${type}`;
  const json = () => `POST ${paths.create} HTTP/1.1${withKey("application/json")}`;

  it("is read if they are some thousands", async () => {
    const response = await answerTo(`${json()}\r\nConnection: close`, ALLOWED, "2\r\n{}\r\n0\r\n\r\n");
    expect(response).to.match(/^HTTP\/1\.1 201 /);
  });

  const MORE: [string, () => string, RegExp][] = [
    ["JSON", json, /^HTTP\/1\.1 400 [^]*more than 10000 chunks of fewer than 64 bytes/],
    [
      "a file",
      () => `PUT ${paths.content} HTTP/1.1${withKey("text/plain")}`,
      /^HTTP\/1\.1 400 [^]*more than 10000 chunks/,
    ],
    [
      "a candidate's form",
      () => `POST ${paths.page} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b`,
      /^HTTP\/1\.1 400 /,
    ],
    [
      "a referee's form",
      () => `POST ${paths.referee} HTTP/1.1\r\nContent-Type: multipart/form-data; boundary=b`,
      /^HTTP\/1\.1 400 /,
    ],
    ["what nobody asked for", () => "POST /nowhere HTTP/1.1", /^HTTP\/1\.1 404 /],
  ];
  for (const [what, head, response] of MORE)
    it(`is refused, and the last of its connection, if they are more: ${what}`, async () => {
      expect(await answerTo(head(), 30_000, ""))
        .to.match(response)
        .and.to.match(/\r\nConnection: close\r\n/i);
    });

  it("is discarded after its response up to a bound, then the connection is closed", async () => {
    const socket = connect({ port: service.port, host: "127.0.0.1", allowHalfOpen: true });
    socket.on("error", () => undefined).resume();
    socket.write("POST /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
    const piece = TINY.repeat(10_000);
    const closed = next(socket, "close");
    while (!socket.destroyed) if (!socket.write(piece)) await Promise.race([next(socket, "drain"), closed]);
    expect(socket.bytesWritten / 1024 / 1024).to.be.within(32, 64);
  });
});

describe("A Content-Type with a long run of spaces", () => {
  const service = useService();
  const account = useAccount(service);

  it("is no media type", async () => {
    const headers = { "Content-Type": `application/a${" ".repeat(15_000)}b` };
    const { status } = await account.client.request("POST", "/candidates", { body: "{}", headers });
    expect(status).to.equal(415);
  });
});
