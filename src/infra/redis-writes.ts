import type { Redis } from "ioredis";

/**
 * Makes a client of one server send all commands of one turn of the event loop in one write. It saves a system call for
 * each, and half of Redis's work for a decision, because Redis reads and answers them together.
 *
 * ioredis's own autopipelining is not used: after an error it may send a command again (see redis.ts).
 */
export function writeTogether(redis: Redis): void {
  // Each connection has a stream of its own.
  redis.on("connect", () => join(redis.stream));
}

function join(stream: Redis["stream"]): void {
  const write = stream.write.bind(stream) as (data: unknown, ...more: unknown[]) => boolean;
  let waiting = "";
  const flush = (): void => {
    const commands = waiting;
    waiting = "";
    // If the connection has closed meanwhile, ioredis has rejected the commands. They were not sent.
    if (commands !== "" && stream.writable) write(commands);
  };
  stream.write = (data: unknown, ...more: unknown[]): boolean => {
    if (typeof data !== "string" || more.length > 0) {
      flush();
      return write(data, ...more);
    }
    if (waiting === "") process.nextTick(flush);
    waiting += data;
    return !stream.writableNeedDrain;
  };
}
