import type { AnyBulkWriteOperation, Filter } from "mongodb";
import type { CandidateState } from "../candidates/schema.ts";
import { feedPosition } from "../candidates/feed-clock.ts";
import type { Stored } from "../candidates/stored.ts";
import { BoundedCollection } from "../infra/bounded-collection.ts";
import { compareAndSet } from "../infra/compare-and-set.ts";
import type { Indexed } from "../infra/indexes.ts";
import type { Mongo } from "../infra/mongo.ts";
import { problem } from "../problems.ts";
import type { LastDelivery, Webhook } from "./schema.ts";

/** Maximum number of webhooks of an account. */
export const MAX_WEBHOOKS = 5;
/** Number of accounts, or of webhooks, that are read at once. */
const READ_AT_ONCE = 200;

/** What is to be sent. Times are milliseconds since the epoch. Only whoever sends nudges changes it while the webhook is enabled. */
export interface Delivery {
  /** The first change that no nudge tells of yet. */
  readonly since: number | null;
  /** The first change that the nudge tells of that is under way or waits for a retry. */
  readonly telling: number | null;
  /** webhook-id of that nudge. */
  readonly message: string | null;
  /** What became of its latest attempt. Under way also if its process has died. */
  readonly attempt: "under_way" | "refused" | "unanswered" | null;
  /** Number of its attempts that failed. */
  readonly tries: number;
  /** When the next attempt may begin. Null if there is nothing to tell. */
  readonly due_at: number | null;
}

export const NOTHING: Delivery = { since: null, telling: null, message: null, attempt: null, tries: 0, due_at: null };

export interface WebhookRecord extends Delivery {
  /** The account, a slash, and a number below MAX_WEBHOOKS. */
  readonly _id: string;
  readonly account: string;
  readonly id: string;
  readonly url: string;
  readonly description: string | null;
  readonly states: readonly CandidateState[] | null;
  readonly version: number;
  readonly created_at: string;
  readonly updated_at: string;
  /** The newest first. `until`: when it ends, in milliseconds since the epoch; null for the newest. */
  readonly secrets: readonly { readonly secret: string; readonly until: number | null }[];
  readonly disabled: { readonly at: string; readonly reason: NonNullable<Webhook["disabled_reason"]> } | null;
  readonly last: LastDelivery | null;
  /** When the latest attempt began, in milliseconds since the epoch. */
  readonly sent_at: number;
  /** Whether the latest attempt succeeded within seconds. */
  readonly quick: boolean;
}

/** Returns what changes. */
export type Edit = (webhook: WebhookRecord) => Partial<WebhookRecord>;

/** Returns whether a nudge waits to be sent again. */
export function waitsForRetry({ attempt }: Delivery): boolean {
  return attempt === "refused" || attempt === "unanswered";
}

const slotsOf = (account: string) => Array.from({ length: MAX_WEBHOOKS }, (_, slot) => `${account}/${slot}`);

/** The webhooks, and what is to be sent to them. Every method may throw problem store_unavailable. */
export class WebhookStore implements Indexed {
  readonly indexes = [
    {
      collection: "webhooks",
      indexes: [{ key: { quick: 1, due_at: 1 }, partialFilterExpression: { due_at: { $gt: 0 } } }],
    },
  ];
  readonly #webhooks: BoundedCollection<WebhookRecord>;
  readonly #candidates: BoundedCollection<Stored>;

  constructor(mongo: Mongo) {
    this.#webhooks = new BoundedCollection(mongo, "webhooks");
    this.#candidates = new BoundedCollection(mongo, "candidates");
  }

  /** Returns the webhooks of accounts, the oldest first. One round trip for every 200 accounts. */
  async of(...accounts: readonly string[]): Promise<WebhookRecord[]> {
    const found: WebhookRecord[] = [];
    for (let first = 0; first < accounts.length; first += READ_AT_ONCE) {
      const slots = accounts.slice(first, first + READ_AT_ONCE).flatMap(slotsOf);
      found.push(...(await this.#webhooks.find({ _id: { $in: slots } }, { limit: slots.length })));
    }
    return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** @throws problem not_found */
  async get(account: string, id: string): Promise<WebhookRecord> {
    const found = (await this.of(account)).find((webhook) => webhook.id === id);
    if (found === undefined) throw problem("not_found", `No webhook has the id ${id}.`);
    return found;
  }

  /** Inserts a webhook, or returns the one with its id. @throws problem too_many_webhooks */
  insert(webhook: Omit<WebhookRecord, "_id">): Promise<WebhookRecord> {
    return compareAndSet("the webhooks", async () => {
      const all = await this.of(webhook.account);
      const known = all.find(({ id }) => id === webhook.id);
      const free = slotsOf(webhook.account).find((slot) => all.every(({ _id }) => _id !== slot));
      if (known !== undefined) return known;
      if (free === undefined) {
        const detail = `An account may have ${MAX_WEBHOOKS} webhooks, and has that many. Delete one first.`;
        throw problem("too_many_webhooks", detail);
      }
      const inserted = { ...webhook, _id: free };
      return (await this.#webhooks.insertIfAbsent(inserted)) ? inserted : undefined;
    });
  }

  /**
   * Changes a webhook, unless `edit` returns no change. Starts again if another write came in between.
   * @param edit may be called more than once. If it throws, the change ends with that error.
   * @throws problem not_found, and what `edit` throws.
   */
  change(account: string, id: string, edit: Edit): Promise<WebhookRecord> {
    return compareAndSet("this webhook", async () => {
      const before = await this.get(account, id);
      const changes = edit(before);
      if (Object.keys(changes).length === 0) return before;
      const after = { ...before, ...changes, version: before.version + 1 };
      return (await this.update(before, { ...changes, version: after.version })) ? after : undefined;
    });
  }

  /** @throws problem not_found, and what `check` throws. */
  async remove(account: string, id: string, check: (webhook: WebhookRecord) => void): Promise<void> {
    await compareAndSet("this webhook", async () => {
      const webhook = await this.get(account, id);
      check(webhook);
      return (await this.#webhooks.deleteOne({ _id: webhook._id, id, version: webhook.version })) || undefined;
    });
  }

  /** Writes changes to a webhook. Returns false if another write came in between. */
  update(webhook: WebhookRecord, changes: Partial<WebhookRecord>): Promise<boolean> {
    return this.#webhooks.updateOne(asRead(webhook), { $set: changes });
  }

  /** As `update`, of several. Returns whether all were written. */
  async updateAll(all: readonly { webhook: WebhookRecord; changes: Partial<WebhookRecord> }[]): Promise<boolean> {
    const writes = all.map(({ webhook, changes }): AnyBulkWriteOperation<WebhookRecord> => {
      return { updateOne: { filter: asRead(webhook), update: { $set: changes } } };
    });
    return (await this.#webhooks.write("update", writes)) === all.length;
  }

  /** Returns webhooks with something to tell, the longest due first. @param now milliseconds since the epoch. */
  async due(now: number, quick: boolean, limit: number): Promise<WebhookRecord[]> {
    // No upper bound: the order has what is due first, and the stand-in for MongoDB reads everything if there is one.
    const found = await this.#webhooks.find({ due_at: { $gt: 0 }, quick }, { sort: { due_at: 1 }, limit });
    return found.filter(({ due_at }) => due_at !== null && due_at <= now);
  }

  /** Yields the accounts that have webhooks. One that is at the end of a page may come twice. */
  async *accounts(): AsyncGenerator<string> {
    for (let after: string | undefined = ""; after !== undefined;) {
      const options = { sort: { _id: 1 }, limit: READ_AT_ONCE, projection: { account: 1 } } as const;
      const page: WebhookRecord[] = await this.#webhooks.find({ _id: { $gt: after } }, options);
      yield* new Set(page.map(({ account }) => account));
      after = page.length < READ_AT_ONCE ? undefined : page.at(-1)?._id;
    }
  }

  /** Returns whether a candidate of the account has changed since that time, in milliseconds since the epoch. */
  async hasChanged(account: string, since: number): Promise<boolean> {
    const later = { account, change: { $gt: feedPosition(since) } };
    return (await this.#candidates.findOne(later, { projection: { _id: 1 } })) !== null;
  }
}

/** Matches a webhook as long as nobody has changed it, or what it is to tell. */
function asRead({ _id, id, version, since, message, due_at }: WebhookRecord): Filter<WebhookRecord> {
  return { _id, id, version, since, message, due_at };
}
