import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";

/** Numbers within this distance of the clock are times, in milliseconds. */
const NEAR_MS = 86_400_000;

/** A Redis whose clock can be wrong. */
export interface ShiftedRedis {
  readonly url: string;
  /** How far the clock is ahead, in whole seconds. */
  ahead: number;
  close(): void;
}

/**
 * Starts a proxy in front of a Redis that makes its clock look wrong: it shifts the times in each response, and shifts those
 * in commands back. A real server's clock cannot be shifted without shifting that of the whole machine.
 */
export async function startShiftedRedis(redisUrl: string): Promise<ShiftedRedis> {
  const target = new URL(redisUrl);
  const sockets = new Set<Socket>();
  let ahead = 0;
  const listener = createServer((toClient) => {
    const toServer = connect(Number(target.port || 6379), target.hostname);
    for (const socket of [toClient, toServer]) {
      sockets.add(socket);
      socket.on("error", () => undefined).once("close", () => [toClient, toServer].forEach((each) => each.destroy()));
    }
    toClient.pipe(shiftedBy(() => -ahead)).pipe(toServer);
    toServer.pipe(shiftedBy(() => ahead)).pipe(toClient);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const url = new URL(redisUrl);
  url.hostname = "127.0.0.1";
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    get ahead() {
      return ahead;
    },
    set ahead(seconds) {
      ahead = seconds;
    },
    close() {
      listener.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** Shifts every number that is a time in seconds or milliseconds, line by line. Their lengths stay the same. */
function shiftedBy(seconds: () => number): Transform {
  let rest = "";
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const text = rest + chunk.toString("latin1");
      const end = text.lastIndexOf("\n") + 1;
      rest = text.slice(end);
      done(null, Buffer.from(text.slice(0, end).replaceAll(/\b\d{10}(\d{3})?\b/g, shifted), "latin1"));
    },
  });

  function shifted(number: string): string {
    const unit = number.length === 10 ? 1_000 : 1;
    const isTime = Math.abs(Number(number) * unit - Date.now()) < NEAR_MS;
    return isTime ? String(Number(number) + seconds() * (1_000 / unit)) : number;
  }
}
