import { request } from "node:http";
import { buffer } from "node:stream/consumers";

/** A request exactly as it is sent: nothing corrects it on the way. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** The Content-Type without parameters; empty without a Content-Type. */
  mediaType: string;
  /** The body, as UTF-8 if it is JSON and as Latin-1 otherwise. */
  text: string;
}

/** Sends one request on a connection of its own. @throws if the connection breaks before the answer is complete. */
export function exchange(url: string, { method, path, headers, body }: Sent): Promise<Received> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "Content-Length": String(body.length) };
    const sent = request(
      { hostname, port, method, path, headers: { ...headers, ...length }, agent: false },
      (response) => {
        buffer(response).then((bytes) => {
          const mediaType = (response.headers["content-type"] ?? "").split(";")[0]?.trim() ?? "";
          const text = bytes.toString(mediaType.endsWith("json") ? "utf8" : "latin1");
          resolve({ status: response.statusCode ?? 0, headers: response.headers, mediaType, text });
        }, reject);
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
