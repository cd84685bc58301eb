import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import type { ObjectId } from "mongodb";
import type { RedisClient } from "../../src/infra/redis.ts";
import type { Mongo } from "../../src/infra/mongo.ts";
import type { Client } from "../support/client.ts";

/** A person whose every string can be found again: no other test has them. */
export const PERSON = {
  external_id: "ats-Zebediah-4711",
  name: "Zebediah Quartermain",
  first_name: "Zebediah",
  last_name: "Quartermain",
  email: "zebediah@quartermain.example",
  phone: "+14155550199",
  job_title: "Lighthouse keeper of Fastnet",
  metadata: { hobby: "ornithology of the Hebrides" },
  references: [
    { name: "Philippa Underhill", email: "philippa@underhill.example", response: { text: "splendid chap" } },
  ],
};
export const DOCUMENT = { name: "Passport of Zebediah", metadata: { number: "X-90210-Z" } };
export const BYTES = Buffer.from("the passport of Zebediah, page after page. ".repeat(2_000));

/** Brings the person into the database in every way there is. @returns the paths, and the headers of the create. */
export async function createPerson(client: Client) {
  const key = () => ({ "Idempotency-Key": randomUUID() });
  const creation = key();
  const created = (await client.post("/candidates", PERSON, creation)).body;
  const path = `/candidates/${created.id}`;
  const document = `${path}/documents/${(await client.post(`${path}/documents`, DOCUMENT, key())).body.id}`;
  const content = `${document}/content`;
  const headers = { "Content-Type": "text/plain", "Content-Disposition": 'attachment; filename="Zebediah.txt"' };
  for (const body of [BYTES, Buffer.concat([BYTES, BYTES])])
    expect((await client.request("PUT", content, { headers, body })).status).to.equal(200);
  await client.post(`${path}/start`, undefined, key());
  return { created, creation, path, document, content, reference: `/references/${created.references[0]?.id}` };
}

/** Strings of the person, of which none may remain. */
export const STRINGS = [
  "Zebediah",
  "Quartermain",
  "quartermain",
  "4155550199",
  "Fastnet",
  "ornithology",
  "Underhill",
  "underhill",
  "splendid chap",
  "X-90210-Z",
];

/**
 * Returns every place in the database that holds one of the strings: `collection: string`.
 * @param files files that were there, whose bytes are looked for even if nothing names them any more.
 */
export async function tracesIn(
  mongo: Mongo,
  { strings = STRINGS, files = [] }: { strings?: readonly string[]; files?: readonly ObjectId[] } = {},
): Promise<string[]> {
  const { db } = mongo;
  const listed = (await db.listCollections().toArray()).map(({ name }) => name);
  const traces = new Set<string>();
  const note = (collection: string, stored: object): void => {
    const text = textOf(stored);
    for (const string of strings) if (text.includes(string)) traces.add(`${collection}: ${string}`);
  };
  // The stand-in for MongoDB lists the two collections of GridFS under other names, under which it cannot read them.
  for (const name of [...listed.filter((each) => !/^content[._](files|chunks)$/.test(each)), "content.files"])
    for (const stored of await db.collection(name).find().toArray()) note(name, stored);
  // The stand-in finds chunks by their file only.
  for (const file of [...files, ...(await filesIn(mongo))])
    for (const stored of await db.collection("content.chunks").find({ files_id: file }).toArray())
      note("content.chunks", stored);
  return [...traces];
}

/** Returns the ids of all files. */
export async function filesIn({ db }: Mongo): Promise<ObjectId[]> {
  return (await db.collection("content.files").find().toArray()).map(({ _id }) => _id);
}

/** Returns every key of Redis that holds one of the person's strings, in its name or its value. */
export async function tracesInRedis(redis: RedisClient): Promise<string[]> {
  const traces: string[] = [];
  for (const key of await redis.keys("*")) {
    const value = (await redis.dumpBuffer(key))?.toString("latin1") ?? "";
    if (STRINGS.some((string) => `${key}${value}`.includes(string))) traces.push(key);
  }
  return traces;
}

/** Waits until the condition holds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await setTimeout(10);
}

/** Returns all text inside a stored document, with that of compressed and plain bytes. */
function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  if (Buffer.isBuffer(value) || value instanceof Uint8Array) return plain(Buffer.from(value));
  if ("buffer" in value && value.buffer instanceof Uint8Array) return plain(Buffer.from(value.buffer));
  return Object.entries(value)
    .map(([name, member]) => `${name} ${textOf(member)}`)
    .join("\n");
}

function plain(bytes: Buffer): string {
  const isGzip = bytes.readUInt16BE(0) === 0x1f8b;
  return (isGzip ? gunzipSync(bytes) : bytes).toString("utf8");
}
