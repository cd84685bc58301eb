import { gunzipSync } from "node:zlib";
import type { RedisClient } from "../../src/infra/redis.ts";
import type { Mongo } from "../../src/infra/mongo.ts";

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

/** Returns every place in the database that holds one of the person's strings: `collection: string`. */
export async function tracesIn({ db }: Mongo): Promise<string[]> {
  const traces = new Set<string>();
  for (const { name } of await db.listCollections().toArray()) {
    for (const stored of await db.collection(realName(name)).find().toArray()) {
      const text = textOf(stored);
      for (const string of STRINGS) if (text.includes(string)) traces.add(`${name}: ${string}`);
    }
  }
  return [...traces];
}

/** The stand-in for MongoDB lists the collections of GridFS under other names, under which it cannot read them. */
function realName(listed: string): string {
  return listed.replace(/^content_(files|chunks)$/, "content.$1");
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
