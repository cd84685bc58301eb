import { Redis } from "ioredis";
import { type Document, MongoClient } from "mongodb";
import { STANDIN } from "../../src/dev/standin.ts";

/**
 * Names both servers with their versions, for reports: "Redis 7.0.15, MongoDB 8.0.4". Asks each server, so it also holds
 * for servers that the environment names.
 */
export async function serverNames({ redisUrl, mongodbUrl }: { redisUrl: string; mongodbUrl: string }): Promise<string> {
  const redis = new Redis(redisUrl);
  try {
    const [, version = "unknown"] = /^redis_version:(\S+)/m.exec(await redis.info("server")) ?? [];
    return `Redis ${version}, ${await mongoName(mongodbUrl)}`;
  } finally {
    redis.disconnect();
  }
}

/** Asks the server behind a MongoDB URL what it is. Not every server that speaks MongoDB's protocol is a MongoDB. */
export async function mongoName(url: string): Promise<string> {
  const client = new MongoClient(url);
  try {
    return nameIn(await client.db("admin").command({ buildInfo: 1 }));
  } finally {
    await client.close();
  }
}

/**
 * Returns the name of the server that gave this answer to buildInfo. Its `version` says only which MongoDB the server
 * is compatible with, so the other members decide:
 * - nx-27017 gives its `process`, but not its own version. We name the version that we install.
 * - FerretDB 2 gives `ferretdb.version`, FerretDB 1 `ferretdbVersion`.
 * - DocumentDB gives `internal.documentdb_versions`, older ones `internal.cosmos_versions`.
 * - Percona Server gives `psmdbVersion` beside all that MongoDB gives.
 * - MongoDB gives the commit, the allocator and the TLS library that it was built with.
 */
export function nameIn(build: Document): string {
  const compatible = String(build["version"]);
  const ferret = build["ferretdb"]?.version ?? build["ferretdbVersion"];
  const documentDb = build["internal"]?.documentdb_versions ?? build["internal"]?.cosmos_versions;
  if (build["process"] === "nx_27017") return `${STANDIN.name} over SQLite (stand-in for MongoDB)`;
  if (ferret !== undefined) return `FerretDB ${ferret} (as MongoDB ${compatible})`;
  if (documentDb !== undefined) return `DocumentDB ${[documentDb].flat()[0]} (as MongoDB ${compatible})`;
  if (build["psmdbVersion"] !== undefined) return `Percona Server for MongoDB ${build["psmdbVersion"]}`;
  const isMongo = /^[0-9a-f]{40}$/.test(String(build["gitVersion"])) && "allocator" in build && "openssl" in build;
  return isMongo ? `MongoDB ${compatible}` : `an unknown server (as MongoDB ${compatible})`;
}
