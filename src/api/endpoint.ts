import type { Readable } from "node:stream";
import type { Static, TSchema } from "typebox";
import type { Caller } from "../accounts/caller.ts";
import type { NewId } from "../infra/ids.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { Precondition } from "../http/entity-tags.ts";
import type { ProblemCode } from "../problems.ts";

/** What a handler is given: everything checked against the endpoint's schemas. */
export interface Input<Params, Query, Body> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The file that came with the request, where the endpoint takes one: the handler's to keep, or to take away. */
  readonly file: StoredFile | undefined;
  readonly newId: NewId;
  /** If-Match. */
  readonly precondition: Precondition;
  /** A header of the request that only this endpoint gives a meaning to, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** A file on its way in: read it once, to its end. */
export interface IncomingFile {
  readonly stream: Readable;
  readonly filename: string | null;
  readonly contentType: string | null;
}

/** A file that has been written but that no record names yet. */
export interface StoredFile {
  readonly id: string;
  readonly filename: string | null;
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** How an endpoint takes a file: as the whole body, or as the part `content` of a form, whose other parts are the fields. */
export interface Upload<Params> {
  readonly form: "raw" | "multipart";
  /** Writes the file. @throws what keeps it from being taken, before the first byte is read where that can be known. */
  store(caller: Caller, params: Params, file: IncomingFile): Promise<StoredFile>;
  /** Takes a file away that was written but that no handler came to see; it must not fail. */
  discard(file: StoredFile): Promise<void>;
}

/** An answer that is not JSON. */
export class BinaryAnswer {
  readonly status: 200 | 206 | 304;
  readonly headers: Record<string, string>;
  /** Nothing for 304. */
  readonly body: Readable | undefined;

  constructor(status: 200 | 206 | 304, headers: Record<string, string>, body?: Readable) {
    this.status = status;
    this.headers = headers;
    this.body = body;
  }
}

/**
 * One operation of the API, as data. Router, validation, charging and the OpenAPI document are all made from it.
 * A surface is required: an operation that forgot its limit does not compile; `free` says that it has none on purpose.
 */
export interface Endpoint<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Answer extends TSchema = TSchema,
> {
  readonly method: "GET" | "POST" | "PATCH" | "PUT";
  /** Path with router parameters: `/candidates/:id`. */
  readonly path: string;
  readonly surface: Surface | "free";
  /** operationId in the OpenAPI document, and the name in the logs. */
  readonly name: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /** Schema of a JSON body, or of a form's fields; without one the endpoint takes no JSON. */
  readonly body?: Body;
  /** Whether the body may be left out altogether. */
  readonly bodyOptional?: true;
  readonly upload?: Upload<Static<Params>>;
  readonly status: 200 | 201;
  readonly answer: Answer;
  /** Members of the answer that the clock alone moves: its ETag tells them apart, and If-Match does not look at them. */
  readonly moving?: readonly string[];
  /** Media types that it can answer beside or instead of JSON. */
  readonly binary?: readonly string[];
  /** What it can answer beyond what every endpoint can. */
  readonly problems: readonly ProblemCode[];
  /** For a 201: where the new thing is (RFC 9110, 10.2.2). */
  location?(body: Static<Answer>): string;
  handle(input: Input<Static<Params>, Static<Query>, Static<Body>>): Promise<Static<Answer> | BinaryAnswer>;
  /** What `?dry_run=true` asks for instead, answered with 200: it keeps nothing, and spends no Idempotency-Key. */
  readonly dryRun?: {
    readonly answer: TSchema;
    handle(input: Input<Static<Params>, Static<Query>, Static<Body>>): Promise<unknown>;
  };
}

/** Declares an endpoint; it only lends its schemas' types to the handler. */
export function endpoint<Params extends TSchema, Query extends TSchema, Body extends TSchema, Answer extends TSchema>(
  declared: Endpoint<Params, Query, Body, Answer>,
): Endpoint {
  return declared;
}
