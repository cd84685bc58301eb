import { ConnectionString } from "mongodb-connection-string-url";

/** Returns host and port of a MongoDB server that can be reached without TLS; nothing if the URL names several hosts. */
export function oneHostOf(url: string): [string?, string?] {
  const { hosts, isSRV, searchParams } = new ConnectionString(url);
  const plain = !isSRV && hosts.length === 1 && !["tls", "ssl"].some((name) => searchParams.get(name) === "true");
  return plain
    ? (/^(.*?)(?::(\d+))?$/
        .exec(hosts[0] ?? "")
        ?.slice(1, 3)
        .map((part) => part ?? "27017") as [string, string])
    : [];
}
