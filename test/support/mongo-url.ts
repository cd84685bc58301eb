import { MongoClient } from "mongodb";
import { ConnectionString } from "mongodb-connection-string-url";

/** Mechanisms whose credentials belong to no database. */
const EXTERNAL = ["GSSAPI", "MONGODB-AWS", "MONGODB-OIDC", "MONGODB-X509", "PLAIN"];

/**
 * Returns a MongoDB URL with another database. Its user stays that of the database which holds it: without `authSource`
 * that is the URL's own database, so it has to be named once that changes.
 */
export function withDatabase(url: string, name: string): string {
  const changed = new ConnectionString(url);
  const mechanism = changed.searchParams.get("authMechanism") ?? "";
  if (changed.username !== "" && !changed.searchParams.has("authSource") && !EXTERNAL.includes(mechanism))
    changed.searchParams.set("authSource", decodeURIComponent(changed.pathname.slice(1)) || "admin");
  changed.pathname = `/${encodeURIComponent(name)}`;
  return changed.href;
}

/** Returns a MongoDB URL with more options. */
export function withOptions(url: string, options: Record<string, string>): string {
  const changed = new ConnectionString(url);
  for (const [name, value] of Object.entries(options)) changed.searchParams.set(name, value);
  return changed.href;
}

/** The server that takes the writes. */
export interface Primary {
  readonly host: string;
  readonly port: number;
  /** Whether connections to it are encrypted, so that a proxy cannot read them. */
  readonly tls: boolean;
  /** Returns a URL that reaches this one server through a proxy at `address`, such as "127.0.0.1:7000". */
  readonly through: (address: string, database: string) => string;
}

/** Asks for the server that takes the writes, whatever hosts, credentials and options the URL has. */
export async function primaryOf(url: string): Promise<Primary> {
  const client = await new MongoClient(url).connect();
  try {
    const { me } = await client.db("admin").command({ hello: 1 }); // only a member of a replica set says it
    const { hosts, tls, credentials } = client.options;
    const address = new ConnectionString(`mongodb://${typeof me === "string" ? me : String(hosts[0])}`).hosts[0] ?? "";
    const [, host = "", port = "27017"] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(address) ?? [];
    return {
      host,
      port: Number(port),
      tls,
      through: (proxy, database) => {
        const { username, password, searchParams } = new ConnectionString(url);
        const direct = new ConnectionString(`mongodb://${proxy}`);
        direct.username = username;
        direct.password = password;
        for (const [name, value] of searchParams) direct.searchParams.set(name, value);
        // The proxy knows one server, and tests read what passes it.
        for (const name of ["replicaSet", "loadBalanced", "srvServiceName", "srvMaxHosts", "compressors"])
          direct.searchParams.delete(name);
        direct.searchParams.set("directConnection", "true");
        if (credentials?.source) direct.searchParams.set("authSource", credentials.source);
        if (tls) {
          direct.searchParams.set("tls", "true");
          direct.searchParams.set("tlsAllowInvalidHostnames", "true"); // the certificate names the server
        }
        return withDatabase(direct.href, database);
      },
    };
  } finally {
    await client.close();
  }
}
