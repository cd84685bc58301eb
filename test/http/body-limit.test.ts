import { connect } from "node:net";
import { expect } from "chai";
import { answerTo, opened, postForm, put } from "../documents/support.ts";
import { expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";

const MAX_JSON_BYTES = 1_048_576;
const MAX_FILE_BYTES = 100_000;
const JSON_TYPE = { "Content-Type": "application/json" };

describe("the limits of a body", () => {
  const service = useService({ MAX_DOCUMENT_BYTES: MAX_FILE_BYTES, BODY_TIMEOUT_MS: 20_000 });
  const { client } = useAccount(service);

  /** JSON of that many bytes. Most of them are the spaces at its end. */
  const jsonOf = (bytes: number) => '{"name":"Ann"}'.padEnd(bytes, " ");
  /** Sends the text in chunks, so that no Content-Length tells its size. */
  const chunked = (text: string) =>
    new ReadableStream({
      start(stream) {
        for (let at = 0; at < text.length; at += 65_536)
          stream.enqueue(new TextEncoder().encode(text.slice(at, at + 65_536)));
        stream.close();
      },
    });
  const create = (body: string | ReadableStream) => client.request("POST", "/candidates", { body, headers: JSON_TYPE });
  const count = async () => (await client.get("/candidates")).body.data.length;

  it("take JSON of exactly 1 MiB, with or without a Content-Length", async () => {
    expect((await create(jsonOf(MAX_JSON_BYTES))).status).to.equal(201);
    expect((await create(chunked(jsonOf(MAX_JSON_BYTES)))).status).to.equal(201);
  });

  it("refuse one byte more, with or without a Content-Length, and serve the next request", async () => {
    expectProblem(await create(jsonOf(MAX_JSON_BYTES + 1)), 413, "payload_too_large");
    expectProblem(await create(chunked(jsonOf(MAX_JSON_BYTES + 1))), 413, "payload_too_large");
    expect(await count()).to.equal(0);
  });

  /**
   * Sends half of a body. Once it is refused, sends the rest, and another request.
   * @returns the status lines of all responses.
   */
  async function responsesWith(header: string, begin: string, end: string): Promise<string[] | null> {
    const socket = connect(service.port, "127.0.0.1");
    let received = "";
    socket.on("error", () => undefined).setEncoding("utf8");
    const answered = new Promise((resolve) => socket.once("data", resolve));
    socket.on("data", (data: string) => (received += data));
    const head = `POST /candidates HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${client.key}\r\n`;
    const half = " ".repeat(2 * MAX_JSON_BYTES);
    socket.write(`${head}Content-Type: application/json\r\n${header}\r\n\r\n${begin}${half}`);
    await answered;
    socket.end(`${half}${end}GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    await new Promise((resolve) => socket.once("close", resolve));
    return received.match(/HTTP\/1\.1 \d+/g);
  }
  const SIZE = 4 * MAX_JSON_BYTES;

  it("leave the connection to the next request, once a body that was refused has arrived", async () => {
    const responses = await responsesWith(`Content-Length: ${SIZE}`, "", "");
    expect(responses).to.deep.equal(["HTTP/1.1 413", "HTTP/1.1 404"]);
  });

  it("end the connection if the body that was refused in the middle is chunked: it may have no end", async () => {
    const responses = await responsesWith("Transfer-Encoding: chunked", `${SIZE.toString(16)}\r\n`, "\r\n0\r\n\r\n");
    expect(responses).to.deep.equal(["HTTP/1.1 413"]);
  });

  it("refuse by the Content-Length, before the body is sent", async () => {
    const { id, documents } = (await client.post("/candidates", { documents: ["CV"] })).body;
    const content = `/candidates/${id}/documents/${documents[0]?.id}/content`;
    for (const [method, path, type, length] of [
      ["POST", "/candidates", "application/json", MAX_JSON_BYTES + 1],
      ["PUT", content, "application/pdf", MAX_FILE_BYTES + 1],
    ] as const) {
      const sent = opened(client, method, path, { "Content-Type": type, "Content-Length": length });
      const { status, body } = await answerTo(sent);
      expect({ path, status, code: body.code }).to.deep.equal({ path, status: 413, code: "payload_too_large" });
      sent.destroy();
    }
  });

  it("take a file of exactly the largest size, and refuse one byte more", async () => {
    const { id, documents } = (await client.post("/candidates", { documents: ["CV"] })).body;
    const content = `/candidates/${id}/documents/${documents[0]?.id}/content`;
    expect((await put(client, content, new Uint8Array(MAX_FILE_BYTES))).status).to.equal(200);
    expectProblem(await put(client, content, new Uint8Array(MAX_FILE_BYTES + 1)), 413, "payload_too_large");
  });

  it("take 100 levels of JSON, and read what is in them", async () => {
    const body = `{"name":${"[".repeat(99)}${"]".repeat(99)}}`;
    expect(expectProblem(await create(body), 422, "validation_failed").errors[0]?.pointer).to.equal("/name");
  });

  it("say of an empty body that it is empty, also if it is chunked", async () => {
    const sent = opened(client, "POST", "/candidates", { ...JSON_TYPE, "Transfer-Encoding": "chunked" });
    sent.end();
    const { status, body } = await answerTo(sent);
    expect({ status, ...body }).to.include({ status: 400, code: "malformed_json" });
    expect(body)
      .to.have.property("detail")
      .that.matches(/^The body is empty/);
  });

  it("take a form's fields of exactly 1 MiB together, and refuse one byte more", async () => {
    const documents = `/candidates/${(await client.post("/candidates")).body.id}/documents`;
    const textOf = (bytes: number) => "x".repeat(bytes - "name".length);
    const largest = await postForm(client, documents, { name: textOf(MAX_JSON_BYTES) });
    expect(expectProblem(largest, 422, "validation_failed").errors[0]?.pointer).to.equal("/name");
    expectProblem(await postForm(client, documents, { name: textOf(MAX_JSON_BYTES + 1) }), 413, "payload_too_large");
    const half = MAX_JSON_BYTES / 2;
    const two = { name: "x".repeat(half), metadata: "x".repeat(half) };
    expectProblem(await postForm(client, documents, two), 413, "payload_too_large");
  });

  it("count the values of all fields of a form together", async () => {
    const documents = `/candidates/${(await client.post("/candidates")).body.id}/documents`;
    const list = (items: number) => JSON.stringify(Array.from({ length: items }, () => 0));
    const within = await postForm(client, documents, { name: "CV", metadata: list(10_000), required: list(10_000) });
    expectProblem(within, 422, "validation_failed");
    const beyond = await postForm(client, documents, { name: "CV", metadata: list(10_000), required: list(10_001) });
    expectProblem(beyond, 413, "payload_too_large");
  });
});
