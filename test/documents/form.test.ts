import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { type Answer, expectProblem } from "../support/client.ts";
import { useAccount, useService } from "../support/use-service.ts";
import { documentIn, held, postForm, sendForm } from "./support.ts";

/** After each refusal nothing of the file is stored, and the connection works for the next request. */
describe("POST /candidates/{id}/documents with a form", () => {
  const service = useService({ MAX_DOCUMENT_BYTES: 100_000 });
  const { client } = useAccount(service);
  let documents: string;
  beforeEach(async () => {
    documents = `/candidates/${(await client.post("/candidates")).body.id}/documents`;
  });

  const part = (head: string, body: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${body}\r\n`;
  const NAME = part('name="name"', "CV");
  const FILE = part('name="content"; filename="cv.txt"', "bytes");
  const raw = (body: string | Uint8Array, type = "multipart/form-data; boundary=b"): Promise<Answer> =>
    client.request("POST", documents, { body, headers: { "Content-Type": type } });

  const REFUSED: [string, string, number, string, string?][] = [
    ["an unknown field", `${part('name="nam"', "CV")}${NAME}${FILE}--b--`, 422, "validation_failed", "/nam"],
    ["a field that occurs twice", `${NAME}${FILE}${NAME}--b--`, 422, "validation_failed", "/name"],
    [
      "a required that is not a boolean",
      `${NAME}${part('name="required"', "yes")}${FILE}--b--`,
      422,
      "validation_failed",
      "/required",
    ],
    [
      "metadata that is not JSON",
      `${NAME}${FILE}${part('name="metadata"', "a=b")}--b--`,
      422,
      "validation_failed",
      "/metadata",
    ],
    [
      "metadata that names one member twice",
      `${NAME}${FILE}${part('name="metadata"', '{"a":"1","a":"2"}')}--b--`,
      422,
      "validation_failed",
      "/metadata",
    ],
    [
      "half a surrogate pair",
      `${NAME}${FILE}${part('name="metadata"', '{"a":"\\ud83d"}')}--b--`,
      422,
      "validation_failed",
      "/metadata/a",
    ],
    ["no name", `${FILE}--b--`, 422, "validation_failed", "/name"],
    ["two files", `${NAME}${FILE}${FILE}--b--`, 422, "validation_failed", "/content"],
    [
      "a file under another name",
      `${NAME}${part('name="file"; filename="cv.txt"', "bytes")}--b--`,
      422,
      "validation_failed",
      "/file",
    ],
    ["a part without a name", `${part('x="y"', "CV")}${NAME}${FILE}--b--`, 422, "validation_failed", ""],
    [
      "a filename of 501 characters",
      `${NAME}${part(`name="content"; filename="${"x".repeat(501)}"`, "bytes")}--b--`,
      422,
      "validation_failed",
      "/content/filename",
    ],
    [
      "too many parts",
      `${NAME}${FILE}${Array.from({ length: 40 }, (_, n) => part(`name="f${n}"`, "")).join("")}--b--`,
      413,
      "payload_too_large",
    ],
    ["a form that ends too early", `${NAME}${FILE}--b`, 400, "malformed_request"],
    ["a file that ends too early", `${NAME}${FILE.slice(0, -4)}`, 400, "malformed_request"],
    ["a body that is not a form", "name=CV", 400, "malformed_request"],
    ["an empty body", "", 400, "malformed_request"],
  ];
  for (const [what, body, status, code, pointer] of REFUSED) {
    it(`refuses ${what}`, async () => {
      const before = await held(service);
      const { errors } = expectProblem(await raw(body), status, code);
      if (pointer !== undefined) expect(errors[0]?.pointer).to.equal(pointer);
      expect(await held(service)).to.deep.equal(before);
      expect((await raw(`${NAME}${FILE}--b--`)).status).to.equal(201);
    });
  }

  it("refuses a compressed form", async () => {
    const compressed = await client.request("POST", documents, {
      body: `${NAME}--b--`,
      headers: { "Content-Type": "multipart/form-data; boundary=b", "Content-Encoding": "gzip" },
    });
    expectProblem(compressed, 415, "unsupported_media_type");
  });

  it("refuses fields that are too large, each or together", async () => {
    expectProblem(await raw(`${part('name="name"', "x".repeat(1_048_577))}--b--`), 413, "payload_too_large");
    const halves = part('name="name"', "x".repeat(700_000)) + part('name="metadata"', "x".repeat(400_000));
    expectProblem(await raw(`${halves}--b--`), 413, "payload_too_large");
  });

  it("accepts a file of the maximum size, and not one byte more", async () => {
    const largest = await postForm(client, documents, { name: "CV" }, { bytes: new Uint8Array(100_000) });
    expect(documentIn(largest).content).to.include({ size: 100_000 });
    const before = await held(service);
    const more = await postForm(client, documents, { name: "CV" }, { bytes: new Uint8Array(100_001) });
    expect(expectProblem(more, 413, "payload_too_large").detail).to.contain("100000");
    const far = await postForm(client, documents, { name: "CV" }, { bytes: new Uint8Array(3_000_000) });
    expectProblem(far, 413, "payload_too_large");
    expect(await held(service)).to.deep.equal(before);
  });

  it("accepts a part `content` without a filename and without a Content-Type", async () => {
    const added = await raw(`${NAME}${part('name="content"', "bytes")}--b--`);
    expect(documentIn(added).content).to.include({ filename: null, content_type: "application/octet-stream", size: 5 });
  });

  it("accepts a body that arrives byte by byte", async () => {
    const text = `${NAME}${FILE}--b--\r\n`;
    const bytes = new ReadableStream({
      async start(controller) {
        for (const byte of Buffer.from(text)) {
          controller.enqueue(Uint8Array.of(byte));
          await setImmediate();
        }
        controller.close();
      },
    });
    const added = await client.request("POST", documents, {
      body: bytes,
      headers: { "Content-Type": "multipart/form-data; boundary=b" },
    });
    expect(added.status).to.equal(201);
    expect(documentIn(added).content).to.include({ filename: "cv.txt", size: 5 });
  });

  it("treats null and the empty string as JSON does", async () => {
    const form = new FormData();
    for (const [name, value] of [
      ["name", "CV"],
      ["required", "null"],
      ["metadata", "null"],
    ] as const)
      form.append(name, value);
    expect((await sendForm(client, documents, form)).body).to.deep.include({ required: true, metadata: {} });
    expectProblem(await postForm(client, documents, { name: "" }), 422, "validation_failed");
  });
});
