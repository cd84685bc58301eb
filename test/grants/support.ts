import { expect } from "chai";
import type { GrantRequest } from "../../src/grants/terms.ts";
import { LoadClient } from "../support/load.ts";
import { earlyInWindow, useTestRedis } from "../limiter/support.ts";
import type { Replicas } from "../support/replicas.ts";
import { useReplicas } from "../support/use-service.ts";

export const REPLICAS = 4;
const LANES = 4;
/** Refusals after which a lane stops. */
const MAX_REFUSALS = 5;

/** Four replicas whose windows have this length. The body of a `describe` calls it. */
export function useGrantReplicas(windowSeconds: number) {
  const redis = useTestRedis();
  const replicas = useReplicas(REPLICAS, {
    LIMIT_WINDOW_SECONDS: windowSeconds,
    LIMITER_TIMEOUT_MS: 10_000,
    STORE_TIMEOUT_MS: 30_000,
  });
  return {
    replicas,
    service: () => replicas.first.operators.grants,
    earlyInWindow: () => earlyInWindow(redis, windowSeconds),
  };
}

/** Returns what a grant of creates for a key asks for. */
export function termsOf(keyId: string, more: Partial<GrantRequest> & { amount: number }): GrantRequest {
  return {
    keyId,
    surface: "create",
    expiresInHours: 24,
    approvedBy: "Ann",
    reason: "the backfill of 2025",
    ...more,
  };
}

/**
 * Creates candidates through all replicas at once. Each lane stops after five refusals.
 * @param max requests after which it stops.
 * @param notBefore refusals before this time, in ms since the epoch, are not counted.
 * @returns the number of candidates created.
 */
export async function createAll(
  replicas: Pick<Replicas, "all">,
  key: string,
  { max = Infinity, notBefore = 0 } = {},
): Promise<number> {
  let sent = 0;
  let created = 0;
  const lane = async (client: LoadClient) => {
    for (let refused = 0; refused < MAX_REFUSALS && sent < max;) {
      sent++;
      const { status } = await client.send({ method: "POST", path: "/candidates", key, body: "{}" });
      expect(status).to.be.oneOf([201, 429]);
      if (status === 201) created++;
      else if (Date.now() > notBefore) refused++;
    }
  };
  const clients = replicas.all.map(({ url }) => new LoadClient(url, LANES));
  await Promise.all(clients.flatMap((client) => Array.from({ length: LANES }, () => lane(client))));
  for (const client of clients) client.close();
  return created;
}
