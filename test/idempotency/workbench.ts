import { author } from "../support/records.ts";
import { randomBytes, randomUUID } from "node:crypto";
import type { CandidateList } from "../../src/candidates/row-schema.ts";
import type { Candidate } from "../../src/candidates/schema.ts";
import type { CandidateInput } from "../../src/candidates/input-schema.ts";
import { renderCandidate } from "../../src/candidates/render.ts";
import { candidateService } from "../../src/candidates/service.ts";
import { CandidateStore } from "../../src/candidates/store.ts";
import { ContentStore } from "../../src/content/store.ts";
import { type JsonResponse, jsonResponse } from "../../src/http/response.ts";
import {
  type IdempotentRequest,
  type Idempotency,
  idempotencyService,
  type IdempotencyOptions,
} from "../../src/idempotency/idempotency.ts";
import type { NewId } from "../../src/infra/ids.ts";
import { connectMongo } from "../../src/infra/mongo.ts";
import { IdempotencyStore } from "../../src/idempotency/store.ts";
import { Problem } from "../../src/problems.ts";
import { createIndexes } from "../../src/infra/indexes.ts";
import { testConfig } from "../support/service.ts";
import { useStarted } from "../support/use-started.ts";

/** Idempotent work below HTTP, over the real store and a clock that the test sets. For cases that no client can cause. */
export type Workbench = Awaited<ReturnType<typeof startWorkbench>>;

export const ACCOUNT = "acct_test";

/** Starts a workbench before the tests of the `describe` that calls this, and stops it after them. */
export function useWorkbench(): Workbench {
  return useStarted("The workbench", startWorkbench, (bench) => bench.stop());
}

async function startWorkbench() {
  const clock = { time: 1_800_000_000_000, now: () => clock.time };
  const mongo = await connectMongo({ url: testConfig().MONGODB_URL ?? "", timeoutMs: 5_000 });
  const store = new IdempotencyStore(mongo);
  const candidateStore = new CandidateStore(mongo, clock);
  await createIndexes(mongo.db, [store, candidateStore.reader]);
  const candidates = candidateService({
    store: candidateStore,
    content: new ContentStore(mongo, clock),
    clock,
    feedLagMs: 0,
    checkpoints: { completeUntil: () => Infinity },
  });
  return {
    clock,
    mongo,
    store,
    /** Starts another replica over the same store. */
    replica: (options: Partial<IdempotencyOptions> = {}) =>
      idempotencyService({ store, clock, random: randomBytes, ...options }),
    /** The work of POST /candidates. */
    create:
      (given: CandidateInput = {}) =>
      async (newId: NewId): Promise<JsonResponse> =>
        await jsonResponse(201, renderCandidate((await candidates.put(author(ACCOUNT), given, newId)).record)),
    candidates: async () => {
      const { body } = await candidates.list(ACCOUNT, { limit: 200 });
      return (JSON.parse(String(body)) as CandidateList).data;
    },
    async clear() {
      for (const name of ["candidates", "reference_index", "idempotency_records"]) {
        await mongo.db.collection(name).deleteMany({});
      }
    },
    async stop() {
      await mongo.db.dropDatabase();
      await mongo.close();
    },
  };
}

/** Returns a request with a new key. */
export function newRequest(): IdempotentRequest {
  return { accountId: ACCOUNT, subject: undefined, key: randomUUID(), fingerprint: "POST /candidates" };
}

/** Returns the candidate in a response. @throws if the response is not JSON. */
export function candidateOf({ body }: JsonResponse): Candidate {
  return JSON.parse(body.toString()) as Candidate;
}

export function isReplay({ headers }: JsonResponse): boolean {
  return headers["Idempotent-Replayed"] === "true";
}

/** Returns a response as its replay is. */
export function replayOf(response: JsonResponse): JsonResponse {
  return { ...response, headers: { ...response.headers, "Idempotent-Replayed": "true" } };
}

/** Returns the problem that a promise is rejected with. @throws if it ends in any other way. */
export async function refusalOf(attempt: Promise<unknown>): Promise<Problem> {
  const thrown = await attempt.then(
    () => "nothing",
    (error: unknown) => error,
  );
  if (!(thrown instanceof Problem)) throw new Error(`A problem was expected, not ${String(thrown)}`);
  return thrown;
}

/** A store that holds outcomes back until `release` is called. */
export class HoldingStore extends IdempotencyStore {
  readonly #release = gate();
  readonly #reached = gate();
  /** Resolves when the first outcome has come. */
  readonly reached = this.#reached.opened;
  readonly release = this.#release.open;
  override async finish(...outcome: Parameters<IdempotencyStore["finish"]>): Promise<boolean> {
    this.#reached.open();
    await this.#release.opened;
    return super.finish(...outcome);
  }
}

/** Returns a promise and the function that resolves it. */
export function gate() {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open, opened };
}

/**
 * Starts an attempt that does its work and then hangs until `release` is called, before its outcome is stored. To other
 * replicas it looks like an attempt on a killed replica.
 */
export async function hang(
  replica: Idempotency,
  request: IdempotentRequest,
  work: (newId: NewId) => Promise<JsonResponse>,
) {
  const reached = gate();
  const end = gate();
  const outcome = replica.once(request, async (newId) => {
    const response = await work(newId);
    reached.open();
    await end.opened;
    return response;
  });
  await Promise.race([reached.opened, outcome]);
  return { outcome, release: end.open };
}
