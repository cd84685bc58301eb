/** A value of Redis's protocol. An error is an `Error`, as an answer or within one. */
export type RespValue = string | number | null | Error | RespValue[];

/** One command or answer: its bytes as they were sent, and its value. */
export interface Frame {
  readonly raw: Buffer;
  readonly value: RespValue;
}

const PUSH = ">";

/** Returns whether the server sent this frame on its own, and not as an answer. */
export function isPush({ raw }: Frame): boolean {
  return raw[0] === PUSH.charCodeAt(0);
}

/** Cuts a stream of Redis's protocol (RESP2 or RESP3) into frames. */
export class FrameReader {
  #rest: Buffer = Buffer.alloc(0);

  /** Adds bytes of the stream. @returns the frames that they complete, in order. */
  push(data: Buffer): Frame[] {
    const all = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data]);
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const parsed = parse(all, start);
      if (parsed === undefined) break;
      frames.push({ raw: all.subarray(start, parsed.end), value: parsed.value });
      start = parsed.end;
    }
    this.#rest = all.subarray(start);
    return frames;
  }
}

interface Parsed {
  readonly value: RespValue;
  readonly end: number;
}

/** @returns undefined if the value is not complete yet. */
function parse(data: Buffer, start: number): Parsed | undefined {
  const lineEnd = data.indexOf("\r\n", start);
  if (lineEnd === -1) return undefined;
  const type = String.fromCharCode(data[start] ?? 0);
  const line = data.toString("utf8", start + 1, lineEnd);
  const end = lineEnd + 2;
  switch (type) {
    case "+":
    case "#":
      return { value: line, end };
    case "-":
      return { value: new Error(line), end };
    case "_":
      return { value: null, end };
    case ":":
    case ",":
    case "(":
      return { value: Number(line), end };
    case "$":
    case "=":
    case "!":
      return parseBulk(data, end, Number(line));
    case "*":
    case "~":
    case PUSH:
      return parseArray(data, end, Number(line));
    case "%":
      return parseArray(data, end, 2 * Number(line)); // a map: name, value, name, value …
    default:
      throw new Error(`The byte ${JSON.stringify(type)} begins no value of Redis's protocol.`);
  }
}

function parseBulk(data: Buffer, start: number, length: number): Parsed | undefined {
  if (length < 0) return { value: null, end: start };
  const end = start + length + 2;
  return end > data.length ? undefined : { value: data.toString("utf8", start, start + length), end };
}

function parseArray(data: Buffer, start: number, length: number): Parsed | undefined {
  if (length < 0) return { value: null, end: start };
  const value: RespValue[] = [];
  let end = start;
  for (let index = 0; index < length; index++) {
    const item = parse(data, end);
    if (item === undefined) return undefined;
    value.push(item.value);
    end = item.end;
  }
  return { value, end };
}
