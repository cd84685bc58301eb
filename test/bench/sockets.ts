import { readdirSync, readFileSync, readlinkSync } from "node:fs";

const ESTABLISHED = "01";

/** Returns the processes that a process has started. */
export function childrenOf(pid: number): number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").trim().split(" ").filter(Boolean).map(Number),
  );
}

/** Returns how many connections to a port of this machine a process has accepted. */
export function acceptedBy(pid: number, port: number): number {
  const accepted = new Set([...inodesOf("tcp", port), ...inodesOf("tcp6", port)]);
  const files = readdirSync(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`));
  return files.filter((target) => accepted.has(target)).length;
}

/** The lines of /proc/net/tcp: local address and port, remote ones, state … the socket's inode is the tenth field. */
function inodesOf(table: "tcp" | "tcp6", port: number): string[] {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  return readFileSync(`/proc/net/${table}`, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => fields[1]?.endsWith(local) === true && fields[3] === ESTABLISHED)
    .map((fields) => `socket:[${fields[9] ?? ""}]`);
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return ""; // closed meanwhile
  }
}
