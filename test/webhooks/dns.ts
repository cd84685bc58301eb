import { createSocket } from "node:dgram";
import { once } from "node:events";
import ipaddr from "ipaddr.js";

const TYPES = { ipv4: 1, ipv6: 28 } as const;
const HEADER = 12;
const NAME_ERROR = 3;

/** Returns the addresses of a name; undefined if there is no such name. @param nth number of lookups of the name so far. */
export type Zone = (name: string, nth: number) => readonly string[] | undefined;

export interface Dns {
  /** Its address and port. */
  readonly server: string;
  /** Number of times that a name was looked up, by type of address. */
  lookups(name: string): { readonly ipv4: number; readonly ipv6: number };
  close(): void;
}

/** Starts a DNS server on a free port of loopback. */
export async function startDns(zone: Zone): Promise<Dns> {
  const counts = new Map<string, number>();
  const count = (name: string, kind: keyof typeof TYPES) => counts.get(`${name} ${TYPES[kind]}`) ?? 0;
  const socket = createSocket("udp4");
  socket.on("message", (query, { address, port }) => {
    const { name, type, question } = questionIn(query);
    const nth = counts.get(`${name} ${type}`) ?? 0;
    counts.set(`${name} ${type}`, nth + 1);
    const addresses = zone(name, nth);
    const records = (addresses ?? []).map((each) => ipaddr.parse(each)).filter((each) => TYPES[each.kind()] === type);
    const header = Buffer.alloc(HEADER);
    query.copy(header, 0, 0, 2); // its id
    header.writeUInt16BE(0x8180 | (addresses === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    const answers = records.map((each) => recordOf(type, each.toByteArray()));
    socket.send(Buffer.concat([header, question, ...answers]), port, address);
  });
  await once(socket.bind(0, "127.0.0.1"), "listening");
  return {
    server: `127.0.0.1:${socket.address().port}`,
    lookups: (name) => ({ ipv4: count(name, "ipv4"), ipv6: count(name, "ipv6") }),
    close: () => void socket.close(),
  };
}

function questionIn(query: Buffer) {
  const labels: string[] = [];
  let at = HEADER;
  for (let length; (length = query[at] ?? 0) > 0; at += length + 1)
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
  const end = at + 5; // the root, the type and the class
  return { name: labels.join("."), type: query.readUInt16BE(at + 1), question: query.subarray(HEADER, end) };
}

/** Returns an answer for the name that was asked for, which nobody may keep. */
function recordOf(type: number, address: readonly number[]): Buffer {
  const record = Buffer.alloc(12);
  record.writeUInt16BE(0xc000 | HEADER, 0);
  record.writeUInt16BE(type, 2);
  record.writeUInt16BE(1, 4);
  record.writeUInt16BE(address.length, 10);
  return Buffer.concat([record, Buffer.from(address)]);
}
