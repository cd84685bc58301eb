import type { ChargeRequest, Decision } from "../../src/limiter/decision.ts";
import { refusalCache } from "../../src/limiter/refusal-cache.ts";

export const REQUEST: ChargeRequest = { accountId: "acct_1", keyId: "key_1", surface: "start" };

/** A refusal by an exhausted account, a minute before its window ends. */
export const REFUSAL: Decision = {
  verdict: "account_exhausted",
  surface: "start",
  account: { limit: 20, remaining: 0 },
  key: { limit: 10, remaining: 7 },
  grantRemaining: null,
  grantAmount: null,
  resetMs: 60_000,
  windowSeconds: 3_600,
  window: 42,
};

/** A cache for each test of the suite that calls this, with a timer and a connection that the test controls. */
export function useRefusalCache() {
  const scene = { now: 0, connection: { changes: 0 }, cache: refusalCache({ connection: { changes: 0 } }) };
  beforeEach(() => {
    scene.now = 5_000.25;
    scene.connection = { changes: 3 };
    scene.cache = refusalCache({ connection: scene.connection, timer: { now: () => scene.now } });
  });
  return Object.assign(scene, {
    /** Redis refuses as many requests at once. The replies arrive `way` milliseconds after the sending. */
    refuse: (times: number, { decision = REFUSAL, request = REQUEST, way = 0 } = {}): void => {
      const sending = scene.cache.sent();
      scene.now += way;
      for (let i = 0; i < times; i++) scene.cache.keep(request, decision, sending);
    },
    isRepeated: (request = REQUEST): boolean => scene.cache.find(request) !== undefined,
  });
}
