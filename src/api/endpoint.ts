import type { Static, TSchema } from "typebox";
import type { Requester } from "../accounts/caller.ts";
import type { AuditedRead } from "../audit/reads.ts";
import type { IncomingFile, StoredFile } from "../content/file.ts";
import type { BinaryResponse } from "../http/response.ts";
import type { IdPrefix, NewId } from "../infra/ids.ts";
import type { Surface } from "../limiter/surfaces.ts";
import type { Usage } from "../limiter/usage.ts";
import type { Fault, Precondition, ProblemCode } from "../problems.ts";
import { propertiesOf } from "../schema/fields.ts";
import type { Tag } from "./openapi-parts.ts";

/** What a handler receives. `params`, `query` and `body` are valid according to the endpoint's schemas. */
export interface Input<Params, Query, Body> {
  readonly caller: Requester;
  /** X-Request-Id */
  readonly requestId: string;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** What `keepUnreadable` set aside. */
  readonly warnings: readonly Fault[];
  /** The uploaded file, if the endpoint takes one. The handler must keep it or remove it. */
  readonly file: StoredFile | undefined;
  readonly newId: NewId;
  /** If-Match. */
  readonly precondition: Precondition;
  /** If-None-Match: whether the client already has the representation with this tag. */
  readonly clientHas: (tag: string) => boolean;
  /** Returns a signal that is aborted when the client's connection closes before it has the whole response. */
  readonly clientLeft: () => AbortSignal;
  /** What the key and its account have used. Set for a free route only. */
  readonly usage: Usage | undefined;
  /** A request header that only this endpoint understands, by its lower-case name. */
  readonly header: (name: string) => string | undefined;
}

/** What an endpoint with `outcomes` did. Its status is 200 if it did something else than "created". */
export interface Outcomed {
  /** Onboarding-Outcome. Undefined if the client did not ask for it. */
  readonly outcome: string | undefined;
  readonly value: { readonly id: string };
}

/** A file that an endpoint takes. */
export interface Upload<Params> {
  /**
   * Undefined if the file is the whole body. Otherwise it is the part `content` of a multipart form, and this is the schema
   * of the form in the OpenAPI document; the endpoint's `body` validates the other parts.
   */
  readonly form?: TSchema;
  /**
   * Stores the file. @throws a problem if it is refused, before the first byte is read if possible.
   * @param precondition If-Match, for an endpoint that can check it before the first byte is read.
   */
  store(caller: Requester, params: Params, file: IncomingFile, precondition: Precondition): Promise<StoredFile>;
  /** Removes a stored file that never reached a handler. Must not fail. */
  discard(file: StoredFile): Promise<void>;
}

/** One operation: its input, its response and its handler. Validation and the OpenAPI document are generated from it. */
export interface Declared<
  Params extends TSchema = TSchema,
  Query extends TSchema = TSchema,
  Body extends TSchema = TSchema,
  Output extends TSchema = TSchema,
> {
  /** operationId in the OpenAPI document, and the name in the logs. */
  readonly name: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description: string;
  readonly params?: Params;
  readonly query?: Query;
  /** JSON, or a form's fields. Without it the endpoint takes no JSON. */
  readonly body?: Body;
  readonly bodyOptional?: true;
  readonly upload?: Upload<Static<Params>>;
  /**
   * Takes several bodies at once, as `{ NAME: [ … ] }` or NDJSON: the handler's body is a list of `Entry`. The query's `count`
   * says how many, and is charged before the body is read. `repeats`: the member of an entry that its result repeats, and that
   * is not stored for replays.
   */
  readonly entries?: { readonly name: string; readonly schema: TSchema; readonly repeats: string };
  /**
   * For `?unreadable=metadata`: takes values that are refused out of a body, or of an entry, and returns a warning for each.
   * The body is then validated again.
   */
  readonly keepUnreadable?: (body: unknown, faults: readonly Fault[]) => Fault[];
  /** What a POST creates. Default: a candidate. Retries with one Idempotency-Key get the same id. */
  readonly creates?: IdPrefix;
  /** Default: 200. */
  readonly status?: 200 | 201 | 202 | 204;
  readonly response?: Output;
  /** Members of the response that change by the clock alone. A GET's ETag covers them; If-Match ignores them. */
  readonly volatile?: readonly string[];
  /**
   * Returns what the ETag covers of a response, if that is not all. What it leaves out must change `version`. The release before
   * may not have it, and both must compute the same ETag while they run side by side.
   */
  tagged?(response: Static<Output>): object;
  /** Media types that it can respond with in addition to JSON, or instead of it. */
  readonly binary?: readonly string[];
  /** Problems that it can respond with, in addition to those of every endpoint. */
  readonly problems?: readonly ProblemCode[];
  /** It may also respond with 200 and the header Onboarding-Outcome. Its handler returns `Outcomed`. */
  readonly outcomes?: true;
  /** For a 201: the path of the new resource (RFC 9110, 10.2.2). */
  location?(body: Static<Output>): string;
  /** For a GET of what the audit must know about: what was read. */
  audited?(params: Static<Params>): AuditedRead;
  handle(
    input: Input<Static<Params>, Static<Query>, Static<Body>>,
  ): Promise<Static<Output> | Outcomed | BinaryResponse | undefined>;
  /** Runs instead for `?dry_run=true`, and responds with 200. It writes nothing and uses up no Idempotency-Key. */
  readonly dryRun?: {
    /** The surface that is charged instead of the route's. */
    readonly surface: Surface;
    readonly response: TSchema;
    handle(input: Input<Static<Params>, Static<Query>, Static<Body>>): Promise<unknown>;
  };
}

export type Endpoint = Declared & Required<Pick<Declared, "status" | "problems">>;

/** Declares an endpoint, and gives the handler the types of the schemas. */
export function endpoint<Params extends TSchema, Query extends TSchema, Body extends TSchema, Output extends TSchema>(
  declared: Declared<Params, Query, Body, Output>,
): Endpoint {
  return { status: 200, problems: [], ...declared };
}

export type Method = "GET" | "POST" | "PATCH" | "PUT" | "DELETE";

/** An endpoint with what the index of routes (routes.ts) adds. Router and charging are generated from it. */
export interface Route extends Endpoint {
  readonly method: Method;
  /** Path with router parameters: `/candidates/:id`. */
  readonly path: string;
  /** The limit that it charges. `free` means that it charges none, on purpose. */
  readonly surface: Surface | "free";
}

/** @throws if the parameters in the path differ from those in the endpoint's schema. */
export function route(method: Method, path: string, surface: Surface | "free", declared: Endpoint): Route {
  const inPath = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name);
  const inSchema = Object.keys(propertiesOf(declared.params));
  if (inPath.join() !== inSchema.join())
    throw new Error(`${declared.name} takes the parameters (${inSchema.join()}), but its path is ${path}.`);
  return { ...declared, method, path, surface };
}
