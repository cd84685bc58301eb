import { request } from "node:http";
import { buffer } from "node:stream/consumers";

/** A request as it goes on the wire: nothing is put right on the way. */
export interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Uint8Array | undefined;
}

export interface Received {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  /** Without parameters; empty where there is none. */
  mediaType: string;
  /** Each byte one character, where it is not JSON. */
  text: string;
}

/** @throws where the connection breaks before there is a whole answer. */
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
