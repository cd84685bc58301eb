import { setTimeout } from "node:timers/promises";
import { SURFACES } from "../../src/limiter/surfaces.ts";
import { termsOf } from "../grants/support.ts";
import { type Proxy, startProxy } from "../limiter/proxy.ts";
import { LoadClient } from "../support/load.ts";
import { accountWithKeys, type Processes, spawnService } from "../support/processes.ts";
import { REQUESTS } from "../support/requests.ts";
import { startRecorder } from "./redis-recorder.ts";

const WINDOW_SECONDS = 5;
/** Requests of each key on each surface in one round: more than the smallest limit of a key with this grant. */
const EACH = 14;
const GRANTED = 2;
/** What a round must show before the next one, by the verdicts in the service's log. */
const VERDICTS = ["admitted", "granted", "key_exhausted", "account_exhausted"];
const MAX_ROUNDS = 10;
const GRACE_SECONDS = 3;
/** How long the network misbehaves, and how often it does something else. */
const TROUBLE_MS = 3_000;
const TROUBLE_EVERY_MS = 50;

interface Account {
  readonly id: string;
  readonly keys: readonly { readonly id: string; readonly key: string }[];
  readonly candidate: string;
}

/**
 * Records what two replicas of the service do to the limiter's keys: charges on all surfaces, beyond the limits and on
 * grants, reads of the limits, operators' commands under load, and charges over a network that loses answers.
 */
export async function recordService(folder: string): Promise<void> {
  const recorder = await startRecorder(Number(new URL(process.env.REDIS_URL ?? "").port), folder);
  const network = await startProxy(recorder.port);
  const settings = { REPLICAS: 2, LIMIT_WINDOW_SECONDS: WINDOW_SECONDS, STORE_TIMEOUT_MS: 30_000 };
  const service = await spawnService({ ...settings, REDIS_URL: network.url });
  try {
    await limited(service);
    await commanded(service);
    await troubled(service, network);
  } finally {
    await service.stop();
    network.close();
    await recorder.close();
  }
}

/** Exhausts limits and grants of an account, in one window after the other. */
async function limited(service: Processes): Promise<void> {
  const account = await newAccount(service);
  const [granted] = account.keys;
  await service.operators.grants.create(termsOf(granted!.id, { surface: "start", amount: GRANTED }));
  const verdicts = () => new Set(service.log.map(({ verdict }) => verdict ?? ""));
  for (let rounds = 0; rounds < 2 || VERDICTS.some((verdict) => !verdicts().has(verdict)); rounds++) {
    if (rounds === MAX_ROUNDS) throw new Error(`The limits were not exhausted: ${[...verdicts()].join(", ")}`);
    await round(service, account);
    await setTimeout(WINDOW_SECONDS * 1000 - (Date.now() % (WINDOW_SECONDS * 1000)));
  }
}

/** Operators' commands, each followed by requests with every key. The service reads what it has cached again. */
async function commanded(service: Processes): Promise<void> {
  const { accounts, grants } = service.operators;
  const account = await newAccount(service);
  const [first, second] = account.keys;
  const grant = await grants.create(termsOf(first!.id, { amount: 5 }));
  for (const command of [
    () => accounts.setStatus(account.id, "suspended"),
    () => accounts.setStatus(account.id, "active"),
    () => grants.revoke(grant.id),
    () => accounts.rotateKey({ keyId: first!.id, graceSeconds: GRACE_SECONDS }),
    () => setTimeout(GRACE_SECONDS * 1000), // the end of the old secret
    () => accounts.revokeKey(second!.id),
  ]) {
    await command();
    await round(service, account, 2);
  }
}

/** Requests while the network loses answers, cuts connections, and ends them from Redis's side. */
async function troubled(service: Processes, network: Proxy): Promise<void> {
  const account = await newAccount(service);
  const troubles = [() => void (network.loseAnswer = true), () => network.cut(), () => network.halfClose("toClient")];
  let turn = 0;
  const troubling = setInterval(() => troubles[turn++ % troubles.length]!(), TROUBLE_EVERY_MS);
  try {
    for (const until = performance.now() + TROUBLE_MS; performance.now() < until;) await round(service, account, 2);
  } finally {
    clearInterval(troubling);
    network.loseAnswer = false;
  }
  await round(service, account, 2);
}

async function newAccount(service: Processes): Promise<Account> {
  const { id, keys } = await accountWithKeys(service, 3);
  const { body } = await keys[0]!.client.post("/candidates", { name: "Ann" });
  return { id, keys: keys.map((each) => ({ id: each.id, key: each.client.key })), candidate: body.id };
}

/** Sends so many requests on each surface with each key, and reads each key's limits. Whatever they are answered. */
async function round({ url }: Processes, { keys, candidate }: Account, each = EACH): Promise<void> {
  const load = new LoadClient(url, 16);
  const ask = async (key: string): Promise<void> => {
    const limits = { method: "GET", path: "/limits", key };
    const requests = SURFACES.flatMap((surface) =>
      Array.from({ length: each }, () => REQUESTS[surface](key, candidate)),
    );
    await Promise.all([...requests, limits].map((request) => load.send(request)));
  };
  for (const { key } of keys) await ask(key); // so that the first ones exhaust their own limits, and the last one finds the account's
  load.close();
}
