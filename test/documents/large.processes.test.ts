import { randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { expect } from "chai";
import { useProcesses, useSharedAccount } from "../support/use-service.ts";
import { candidateWithDocument, documentIn, download, postForm, put } from "./support.ts";

const MIB = 1024 * 1024;

/**
 * V8 lets about 30 MiB of dead buffers accumulate before it collects them (src/docs/decisions). A service that held a
 * document in memory would grow by at least this size and by those 30 MiB.
 */
const SIZE_MIB = 64;
const MAX_GROWTH_MIB = 56;

/** Reads the memory of the service's process from /proc. Writing 5 to clear_refs resets the peak, VmHWM. */
describe(`documents of ${SIZE_MIB} MiB`, function () {
  this.timeout(120_000);
  const bytes = randomBytes(SIZE_MIB * MIB);
  before(function () {
    if (process.platform !== "linux") this.skip(); // only Linux has /proc
  });
  const service = useProcesses({ MAX_DOCUMENT_BYTES: SIZE_MIB * MIB });
  const { client } = useSharedAccount(service);
  before(() => roundTrips(bytes.subarray(0, MIB))); // so that code and buffers that any upload needs are already in memory

  /** Uploads the bytes by PUT and by form, and downloads both. */
  async function roundTrips(sent: Uint8Array<ArrayBuffer>): Promise<Buffer[]> {
    const { candidate, content } = await candidateWithDocument(client);
    expect(documentIn(await put(client, content, sent)).content?.size).to.equal(sent.length);
    const added = await postForm(client, `${candidate}/documents`, { name: "by form" }, { bytes: sent });
    expect(documentIn(added).content?.size).to.equal(sent.length);
    return [
      (await download(client, content)).bytes,
      (await download(client, `${candidate}/documents/${added.body.id}/content`)).bytes,
    ];
  }

  async function memory(line: "VmRSS" | "VmHWM"): Promise<number> {
    const status = await readFile(`/proc/${service.child.pid}/status`, "utf8");
    return Number(new RegExp(`^${line}:\\s+(\\d+) kB`, "m").exec(status)?.[1]) * 1024;
  }

  it(`are stored and returned unchanged, and the process grows by less than ${MAX_GROWTH_MIB} MiB`, async () => {
    await writeFile(`/proc/${service.child.pid}/clear_refs`, "5");
    const before = await memory("VmRSS");
    const [one, two] = await roundTrips(bytes);
    const growth = (await memory("VmHWM")) - before;
    expect(one?.equals(bytes)).to.equal(true);
    expect(two?.equals(bytes)).to.equal(true);
    expect(growth / MIB).to.be.lessThan(MAX_GROWTH_MIB);
  });
});
