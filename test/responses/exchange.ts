import { Names, type Shown } from "../support/snapshot.ts";

/** One request of the conversation, and the names under which later requests find what its response holds. */
export interface Step {
  readonly title: string;
  /** The method and the path. `{name}` stands for what an earlier step has kept under that name. */
  readonly request: string;
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Names of values of the response's body, such as { candidate: "id", document: "documents.0.id" }. */
  readonly keep?: Readonly<Record<string, string>>;
}

/** What a step has sent and got, as the snapshot keeps it. */
export interface ShownResponse extends Shown {
  readonly request: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** The headers that are compared: those that do not depend on the time or on earlier requests. */
const HEADERS = [
  "accept-ranges",
  "allow",
  "cache-control",
  "content-disposition",
  "content-length",
  "content-range",
  "content-type",
  "etag",
  "idempotent-replayed",
  "location",
  "vary",
  "www-authenticate",
];

/** Sends steps one after the other, and replaces what differs from run to run with names. */
export class Conversation {
  readonly #url: string;
  readonly #key: string;
  readonly #kept = new Map<string, string>();
  readonly #names = new Names();

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  async send({ title, request, json, body, headers = {}, keep = {} }: Step): Promise<ShownResponse> {
    const [method = "", path = ""] = this.#filled(request).split(" ");
    const type: Record<string, string> = json === undefined ? {} : { "Content-Type": "application/json" };
    const given = Object.entries(headers).map(([name, value]) => [name, this.#filled(value)]);
    const sent = json === undefined ? body : this.#filled(JSON.stringify(json));
    const response = await fetch(this.#url + path, {
      method,
      headers: { Authorization: `Bearer ${this.#key}`, ...type, ...Object.fromEntries(given) },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const isJson = /json/.test(response.headers.get("content-type") ?? "");
    const parsed = isJson && text !== "" ? (JSON.parse(text) as unknown) : text;
    for (const [name, where] of Object.entries(keep)) this.#kept.set(name, String(valueAt(parsed, where)));
    const etag = response.headers.get("etag");
    if (etag !== null) this.#kept.set("etag", etag);
    const shown = HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      // The length of JSON follows from the body, in which ids are replaced.
      return value === null || (isJson && name === "content-length") ? [] : [[name, this.#names.in(value)]];
    });
    return {
      title,
      request,
      status: response.status,
      headers: Object.fromEntries(shown) as Record<string, string>,
      body: JSON.parse(this.#names.in(JSON.stringify(parsed))),
    };
  }

  #filled(text: string): string {
    return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => this.#kept.get(name) ?? whole);
  }
}

function valueAt(value: unknown, where: string): unknown {
  return where.split(".").reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], value);
}
