import { author } from "../support/records.ts";

import { isTombstone, namesFile } from "../../src/candidates/erasure.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { expect } from "chai";
import { ContentStore, type FileOwner, type PendingFile } from "../../src/content/store.ts";
import { documentService } from "../../src/documents/service.ts";
import { problem } from "../../src/problems.ts";
import { until } from "../erasure/support.ts";
import { useAccount, useOwnService } from "../support/use-service.ts";
import {
  candidateWithDocument,
  documentIn,
  download,
  emptyContent,
  held,
  NOTHING_HELD,
  put,
} from "../documents/support.ts";

/**
 * A left-over is a file whose pending entry was never settled: a crash came between two writes, or another file replaced it.
 * The sweep removes its bytes unless a record names it. These tests leave out the second write instead of crashing.
 */
describe("left-over files of documents", () => {
  const service = useOwnService();
  const account = useAccount(service);
  const { client } = account;
  let content: string;
  let owner: FileOwner;
  let candidates: CandidateStore;
  let contents: ContentStore;
  beforeEach(async () => {
    await emptyContent(service);
    const made = await candidateWithDocument(client);
    ({ content } = made);
    owner = { accountId: account.id, candidateId: made.candidate.slice("/candidates/".length) };
    const { mongo } = service.operators;
    const clock = { now: Date.now };
    candidates = new CandidateStore(mongo, clock);
    contents = new ContentStore(mongo, clock);
  });

  const upload = (stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array> = [Buffer.alloc(300 * 1024)]) =>
    contents.store({ stream, filename: null, contentType: null }, owner);

  async function isNamed({ _id, account, candidate }: PendingFile): Promise<boolean> {
    const record = await candidates.reader.find(account, candidate);
    return record !== null && !isTombstone(record) && namesFile(record, _id);
  }

  async function sweep(): Promise<boolean[]> {
    const removed: boolean[] = [];
    for (const entry of await contents.leftOvers(0)) removed.push(await contents.removeLeftOver(entry, isNamed));
    return removed;
  }

  it("include what an upload writes after its candidate was deleted, if the upload then dies", async () => {
    let more = () => {};
    const waiting = new Promise<void>((resolve) => (more = resolve));
    async function* bytes() {
      yield Buffer.alloc(300 * 1024);
      await waiting;
      yield Buffer.alloc(300 * 1024);
      await new Promise(() => undefined); // it dies here
    }
    void upload(bytes());
    await until(async () => (await held(service)).chunks > 0);
    expect((await client.request("DELETE", `/candidates/${owner.candidateId}`)).status).to.equal(204);
    expect((await held(service)).chunks).to.equal(0);
    more();
    await until(async () => (await held(service)).chunks > 0);
    expect(await sweep()).to.deep.equal([true]);
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
  });

  it("are removed by the sweep if no record names them, but not before they are old enough", async () => {
    await upload();
    expect(await contents.leftOvers(60_000)).to.deep.equal([]);
    expect(await held(service)).to.include({ files: 1, pending: 1 });
    expect(await sweep()).to.deep.equal([true]);
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
  });

  it("are kept if a record names them, and only their pending entry is removed", async () => {
    const { id } = await upload();
    const named = {
      file_id: id,
      filename: null,
      content_type: "a/b",
      size: 307_200,
      sha256: "",
      uploaded_at: "2026-11-21T01:40:12.345Z",
    };
    await candidates.change(author(owner.accountId), owner.candidateId, (record) => ({
      ...record,
      documents: record.documents.map((document) => ({ ...document, content: named })),
    }));
    expect(await sweep()).to.deep.equal([false]);
    expect(await held(service)).to.include({ files: 1, pending: 0 });
    expect((await download(client, content)).bytes).to.have.length(307_200);
  });

  it("include a replaced file, which stays for its readers until it is old enough for the sweep", async () => {
    await put(client, content, "old");
    await put(client, content, "new");
    expect(await held(service)).to.include({ files: 2, pending: 1 });
    expect(await sweep()).to.deep.equal([true]);
    expect(await held(service)).to.include({ files: 1, pending: 0 });
    expect((await download(client, content)).bytes.toString()).to.equal("new");
  });

  it("include a replaced file, which goes with its candidate, with its entry", async () => {
    await put(client, content, "old");
    await put(client, content, "new");
    expect((await client.request("DELETE", `/candidates/${owner.candidateId}`)).status).to.equal(204);
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
  });

  it("are kept if their replacement was refused", async () => {
    const { content: old } = documentIn(await put(client, content, "old"));
    const record = await candidates.reader.get(owner.accountId, owner.candidateId);
    await contents.replaced(record.documents[0]?.content?.file_id ?? "", owner);
    expect(await sweep()).to.deep.equal([false]);
    expect(await held(service)).to.include({ files: 1, pending: 0 });
    expect((await download(client, content)).headers.get("etag")).to.equal(old?.etag);
  });

  it("are removed at once if the record's write was refused, and stay for the sweep if its outcome is unknown", async () => {
    const refused = await upload();
    await rejected(contents.settle([refused.id], () => Promise.reject(problem("version_mismatch", "Refused.")), never));
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
    const inDoubt = await upload();
    await rejected(
      contents.settle([inDoubt.id], () => Promise.reject(problem("store_unavailable", "Unknown.")), never),
    );
    expect(await held(service)).to.include({ files: 1, pending: 1 });
  });

  it("stay for the sweep if the store does not respond during an upload: a chunk may still reach it", async () => {
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(300 * 1024);
      throw problem("store_unavailable", "No response.");
    }
    await rejected(upload(failing()));
    expect(await held(service)).to.include({ pending: 1 });
    expect(await sweep()).to.deep.equal([true]);
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
  });

  it("may include a file that is still being uploaded: if the sweep removes it first, the upload is refused", async () => {
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(300 * 1024);
      await sweep();
      yield Buffer.alloc(1);
    }
    const error = await rejected(upload(slow()));
    expect(error).to.include({ code: "request_timeout" });
    expect(await held(service)).to.deep.equal(NOTHING_HELD);
  });

  it("are kept if their entry changed after the sweep found them", async () => {
    const { id } = await upload();
    const [found] = await contents.leftOvers(0);
    await contents.replaced(id, owner);
    if (found === undefined) throw new Error("The sweep found no left-over.");
    expect(await contents.removeLeftOver({ ...found, created_at: found.created_at - 1 }, isNamed)).to.equal(false);
    expect(await held(service)).to.include({ files: 1, pending: 1 });
  });

  it("of a deleted candidate are kept if a request has worked with them since they were found", async () => {
    const { id } = await upload();
    const [found] = await contents.unsettled(owner);
    if (found === undefined) throw new Error("The upload is not listed.");
    await contents.removeUnsettled({ ...found, created_at: found.created_at - 1 });
    expect(await held(service)).to.include({ files: 1, pending: 1 });
    await contents.removeUnsettled(found);
    expect(found._id).to.equal(id);
    expect(await held(service)).to.include({ files: 0, pending: 1 });
  });

  it("of an interrupted attempt do not become a second document on retry", async () => {
    const documents = documentService(candidates, contents);
    const given = { name: "CV", content: { data: Buffer.from("bytes").toString("base64") } };
    const ids = { file: undefined, newId: () => "doc_fixed", precondition: () => undefined };
    const first = await documents.add({ ...owner, ...author(owner.accountId) }, given, ids);
    const again = await documents.add({ ...owner, ...author(owner.accountId) }, given, ids);
    expect(again).to.deep.equal(first);
    expect((await candidates.reader.get(owner.accountId, owner.candidateId)).documents).to.have.length(2);
    expect(await held(service)).to.include({ files: 1, pending: 0 });
  });
});

const never = () => false;

async function rejected(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error("The promise resolved; it should have been rejected.");
    },
    (error: unknown) => error,
  );
}
