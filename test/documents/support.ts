import { once } from "node:events";
import { type ClientRequest, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { Document } from "../../src/candidates/document-schema.ts";
import type { Answer, Client } from "../support/client.ts";
import type { Service } from "../support/service.ts";

/** Creates a candidate with one pending document. @returns the paths of the candidate, the document and its content. */
export async function candidateWithDocument(
  client: Client,
): Promise<{ candidate: string; document: string; content: string }> {
  const { body } = await client.post("/candidates", { documents: ["Passport"] });
  const candidate = `/candidates/${body.id}`;
  const document = `${candidate}/documents/${body.documents[0]?.id}`;
  return { candidate, document, content: `${document}/content` };
}

/** Returns the body of a response as a document. */
export function documentIn(answer: Answer): Document {
  return answer.body as unknown as Document;
}

export interface FormFile {
  bytes: Uint8Array<ArrayBuffer> | string;
  filename?: string;
  type?: string;
}

/** Posts a form, encoded as browsers and fetch encode it. */
export async function postForm(
  client: Client,
  path: string,
  fields: Record<string, string>,
  file?: FormFile,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (file !== undefined)
    form.append(
      "content",
      new Blob([file.bytes], { type: file.type ?? "application/pdf" }),
      file.filename ?? "file.pdf",
    );
  return sendForm(client, path, form, headers);
}

export async function sendForm(
  client: Client,
  path: string,
  form: FormData,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const encoded = new Response(form);
  const type = encoded.headers.get("content-type") ?? "";
  return client.request("POST", path, {
    body: new Uint8Array(await encoded.arrayBuffer()),
    headers: { "Content-Type": type, ...headers },
  });
}

export function put(
  client: Client,
  path: string,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return client.request("PUT", path, { body, headers: { "Content-Type": "application/pdf", ...headers } });
}

/** Sends a GET or HEAD, and returns the raw bytes. */
export async function download(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
  method = "GET",
): Promise<{ status: number; headers: Headers; bytes: Buffer }> {
  const response = await fetch(client.url + path, {
    method,
    headers: { Authorization: `Bearer ${client.key}`, ...headers },
  });
  return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

/** Opens a request and sends its headers. The test writes the body itself, piece by piece. */
export function opened(
  client: Client,
  method: string,
  path: string,
  headers: Record<string, string | number>,
): ClientRequest {
  const sent = request(client.url + path, { method, headers: { Authorization: `Bearer ${client.key}`, ...headers } });
  sent.on("error", () => undefined);
  sent.flushHeaders();
  return sent;
}

export async function answerTo(sent: ClientRequest): Promise<{ status: number; body: { code?: string } }> {
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, body: JSON.parse(await text(response)) as { code?: string } };
}

/** Counts the files, chunks and pending entries of documents' content in the database, those of other tests too. */
export async function held(service: Service): Promise<{ files: number; chunks: number; pending: number }> {
  const { db } = service.operators.mongo;
  const count = async (name: string) =>
    (
      await db
        .collection(name)
        .find({}, { projection: { _id: 1 } })
        .toArray()
    ).length;
  // The MongoDB stand-in finds chunks only by their file's id. It lists all of them in its own table, content_chunks.
  const chunks = (await count("content.chunks")) + (await count("content_chunks"));
  return { files: await count("content.files"), chunks, pending: await count("content_pending") };
}

/** Removes all documents' content from the database, for tests that count what it holds. */
export async function emptyContent(service: Service): Promise<void> {
  const { db } = service.operators.mongo;
  for (const name of ["content.files", "content.chunks", "content_chunks", "content_pending"])
    await db.collection(name).deleteMany({});
  expect(await held(service)).to.deep.equal(NOTHING_HELD);
}

export const NOTHING_HELD = { files: 0, chunks: 0, pending: 0 };
