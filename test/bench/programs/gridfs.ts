/** GridFS driven bare by the driver: a file up, and down again. Answers how long it took, in seconds. */
import { once } from "node:events";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { GridFSBucket, MongoClient, type ObjectId } from "mongodb";

const [url = "", bytes = "0"] = process.argv.slice(2);
const mongo = await new MongoClient(url, { writeConcern: { w: "majority", journal: true } }).connect();
const bucket = new GridFSBucket(mongo.db(), { bucketName: "bare" });
const file = Buffer.alloc(Number(bytes), "bench");
let last: ObjectId | undefined;
let former: ObjectId | undefined;

async function up(): Promise<void> {
  const upload = bucket.openUploadStream("");
  upload.end(file);
  await once(upload, "finish");
  former = last;
  last = upload.id;
}

async function deleteFormer(): Promise<void> {
  if (former !== undefined) await bucket.delete(former);
  former = undefined;
}

async function down(): Promise<void> {
  if (last === undefined) throw new Error("Nothing was stored.");
  await pipeline(bucket.openDownloadStream(last), new Writable({ write: (_chunk, _encoding, done) => done() }));
}

/** The clock stops before the file of the last time is deleted. */
async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  const seconds = (performance.now() - started) / 1000;
  await deleteFormer();
  return seconds;
}

process.on("disconnect", () => process.exit());
process.on("message", (asked: { do: "up" | "down" }) => {
  timed(asked.do === "up" ? up : down).then(
    (result) => process.send?.({ result }),
    (error: Error) => process.send?.({ error: error.message }),
  );
});
process.send?.({ type: "ready" });
