import { type Answer, Client, type RequestOptions } from "../support/client.ts";

/** Takes no coding: 0.1.0 compresses nothing, and each coding has an entity tag of its own. */
export class PlainClient extends Client {
  override request(method: string, path: string, options: RequestOptions = {}): Promise<Answer> {
    const headers = { "Accept-Encoding": "identity", ...options.headers };
    return super.request(method, path, { ...options, headers });
  }
}
