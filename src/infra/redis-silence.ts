import type { Redis } from "ioredis";
import { TimeLimit } from "./time-limit.ts";

/**
 * Closes a connection once its server has sent nothing for `ms` milliseconds while an answer is due. ioredis then rejects
 * what waits for an answer, and connects again. Time in which this process stood still does not count.
 */
export function closeIfSilent(redis: Redis, ms: number): void {
  redis.on("connect", () => {
    const { stream } = redis;
    let silence: TimeLimit | undefined;
    const expect = (): void => {
      silence ??= new TimeLimit(ms, () => stream.destroy(new Error(`Redis sent nothing for ${ms} ms`)));
    };
    expect(); // the handshake was sent already
    const write = stream.write.bind(stream) as (...data: unknown[]) => boolean;
    stream.write = (...data: unknown[]): boolean => {
      expect();
      return write(...data);
    };
    // After ioredis's own listener, so that the commands answered by this data have left the queue.
    stream.on("data", () => {
      if (redis.commandQueue.length > 0) return silence?.restart();
      silence?.clear();
      silence = undefined;
    });
    stream.once("close", () => silence?.clear());
  });
}
