import { BSON, type Document } from "mongodb";

/** MongoDB's only kind of message since version 6. */
const OP_MSG = 2013;
const HEADER_BYTES = 16;
const MORE_TO_COME = 2;

/** One message of MongoDB's wire protocol. */
export interface Message {
  readonly bytes: Buffer;
  readonly id: number;
  /** The id of the message that it answers. */
  readonly answers: number;
}

/** Cuts a stream of bytes into messages. Returns a function that takes the next bytes and returns the messages they end. */
export function messageReader(): (data: Buffer) => Message[] {
  let rest: Buffer = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    const messages: Message[] = [];
    while (rest.length >= HEADER_BYTES && rest.length >= rest.readInt32LE(0)) {
      const bytes = rest.subarray(0, rest.readInt32LE(0));
      rest = rest.subarray(bytes.length);
      messages.push({ bytes, id: bytes.readInt32LE(4), answers: bytes.readInt32LE(8) });
    }
    return messages;
  };
}

/** Whether the server answers a message. It does not if the flag moreToCome is set. */
export function isAnswered({ bytes }: Message): boolean {
  return (bytes.readInt32LE(HEADER_BYTES) & MORE_TO_COME) === 0;
}

/** Returns the command or answer that a message carries, with its lists of documents. Undefined for other messages. */
export function documentOf({ bytes }: Message): Document | undefined {
  if (bytes.readInt32LE(12) !== OP_MSG) return undefined;
  const document: Document = {};
  let at = HEADER_BYTES + 4; // after the flags
  while (at < bytes.length) {
    const kind = bytes[at];
    const size = bytes.readInt32LE(at + 1);
    const section = bytes.subarray(at + 1, at + 1 + size);
    if (kind === 0) Object.assign(document, BSON.deserialize(section));
    else {
      const end = section.indexOf(0, 4);
      document[section.toString("utf8", 4, end)] = documentsIn(section.subarray(end + 1));
    }
    at += 1 + size;
  }
  return document;
}

function documentsIn(bytes: Buffer): Document[] {
  const documents: Document[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readInt32LE(at))
    documents.push(BSON.deserialize(bytes.subarray(at, at + bytes.readInt32LE(at))));
  return documents;
}
