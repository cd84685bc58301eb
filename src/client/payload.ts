/** Bytes to upload. A stream can be read once, so it is not sent again. A function is called for each attempt. */
export type Bytes = Blob | Uint8Array | ArrayBuffer | string | OneShot | (() => Bytes);

/** A web stream, or an async iterable such as a Node stream. */
type OneShot = ReadableStream<Uint8Array> | (AsyncIterable<Uint8Array> & { destroy?(): unknown });

/** The body of one request, over all of its attempts. */
export interface Payload {
  /** The Content-Type, unless `fetch` sets it. */
  readonly type?: string;
  /** True if it may take long to send. */
  readonly isUpload: boolean;
  /** Returns the body for one attempt. */
  open(): NonNullable<RequestInit["body"]>;
  /** True if some of it was sent and cannot be sent again. */
  spent(): boolean;
  /** Ends the reading of a stream. It is called after each attempt, because not every `fetch` does this when it is aborted. */
  close?(): void;
}

export function jsonPayload(value: unknown): Payload {
  const text = JSON.stringify(value);
  return { type: "application/json", isUpload: false, open: () => text, spent: () => false };
}

/** Makes a form (RFC 7578) of the file and of the fields, without undefined ones. A field that is not text is sent as JSON. */
export function formPayload(fields: object, file: Blob): Payload {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    if (value !== undefined) form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  form.append("content", file); // last, so that the service knows the fields before the bytes come
  return { isUpload: true, open: () => form, spent: () => false };
}

export function bytesPayload(bytes: Bytes, type: string): Payload {
  let spent = false;
  let close = (): void => undefined;
  const open = (source: Bytes): NonNullable<RequestInit["body"]> => {
    if (typeof source === "function") return open(source());
    if (typeof source === "string" || source instanceof Blob || source instanceof ArrayBuffer) return source;
    if (source instanceof Uint8Array) return new Uint8Array(source); // a copy, because `fetch` refuses shared memory
    const chunks = source instanceof ReadableStream ? chunksOfStream(source) : chunksOfIterable(source);
    const isGiven = source === bytes;
    close = () => {
      if (spent || !isGiven) chunks.end(); // else it can still be sent
    };
    return streamOf(chunks, () => (spent ||= isGiven));
  };
  return { type, isUpload: true, open: () => open(bytes), spent: () => spent, close: () => close() };
}

interface Chunks {
  /** Gives undefined at the end. */
  next(): Promise<Uint8Array | undefined>;
  /** Tells the source to stop, even if it is asked for a chunk and gives none. */
  end(): void;
}

/** @param onRead is called before anything is read. */
function streamOf(chunks: Chunks, onRead: () => void): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        onRead();
        const chunk = await chunks.next();
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
    },
    { highWaterMark: 0 }, // reads nothing before `fetch` asks for it
  );
}

/** Streams in Safari are not async iterable. */
function chunksOfStream(source: ReadableStream<Uint8Array>): Chunks {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  return {
    next: async () => (await (reader ??= source.getReader()).read()).value,
    end: () => void (reader ?? source).cancel().catch(() => undefined),
  };
}

function chunksOfIterable(source: Exclude<OneShot, ReadableStream>): Chunks {
  let iterator: AsyncIterator<Uint8Array, unknown> | undefined;
  return {
    async next() {
      const result = await (iterator ??= source[Symbol.asyncIterator]()).next();
      return result.done === true ? undefined : result.value;
    },
    end() {
      // The iterator of a Node stream ends the stream only after its next chunk.
      if (source.destroy) source.destroy();
      else iterator?.return?.().catch(() => undefined);
    },
  };
}
