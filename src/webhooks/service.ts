import { isDeepStrictEqual } from "node:util";
import type { Caller } from "../accounts/caller.ts";
import type { AuditDetails } from "../audit/entry.ts";
import type { AuditStore } from "../audit/store.ts";
import { auditTrail } from "../audit/trail.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { type Clock, DAY_MS, timestamp } from "../infra/clock.ts";
import type { NewId } from "../infra/ids.ts";
import { invalid, type Precondition, problem } from "../problems.ts";
import type { Deliver } from "./delivery.ts";
import type { Receivers } from "./receivers.ts";
import type { Webhook, WebhookInput, WebhookPatch, WebhookWithSecret } from "./schema.ts";
import { type Edit, NOTHING, waitsForRetry, type WebhookRecord, type WebhookStore } from "./store.ts";

/** Maximum number of secrets that sign. Only whoever rotates several times a day has more than two. */
const MAX_SECRETS = 4;

export type WebhookService = ReturnType<typeof webhookService>;

export interface WebhookServiceOptions {
  readonly store: WebhookStore;
  readonly audit: AuditStore;
  readonly idempotency: Pick<Idempotency, "end">;
  readonly receivers: Receivers;
  readonly deliver: Deliver;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly random: (bytes: number) => Buffer;
}

/** An account's webhooks. Every method may throw problem store_unavailable, and those with an id not_found. */
export function webhookService(dependencies: WebhookServiceOptions) {
  const { store, audit, idempotency, receivers, deliver, clock, newId, random } = dependencies;
  const newSecret = () => ({ secret: `whsec_${random(32).toString("base64")}`, until: null });

  function checkedUrl(url: string): string {
    const fault = receivers.faultOf(url);
    if (fault !== undefined) throw invalid("/url", fault);
    return new URL(url).href;
  }

  function audited<T>(caller: Caller, change: string, subject: string, details: AuditDetails, run: () => Promise<T>) {
    const trail = auditTrail({ store: audit, newId, actor: () => caller.keyId });
    return trail.around({ action: `webhooks ${change}`, accountId: caller.accountId, subject, details }, run);
  }

  /** @throws problems validation_failed, too_many_webhooks. */
  async function create(caller: Caller, { url, description = null, states = null }: WebhookInput, id: string) {
    const href = checkedUrl(url);
    const at = timestamp(clock.now());
    const facts = { account: caller.accountId, id, url: href, description, states, version: 1 };
    const fresh = { created_at: at, updated_at: at, disabled: null, last: null, sent_at: 0, quick: false };
    const record = { ...facts, ...fresh, ...NOTHING, secrets: [newSecret()] };
    return withSecret(await audited(caller, "create", id, { host: new URL(href).host }, () => store.insert(record)));
  }

  const list = async ({ accountId }: Caller) => {
    return { object: "list" as const, data: (await store.of(accountId)).map(render) };
  };

  const read = async ({ accountId }: Caller, id: string) => render(await store.get(accountId, id));

  /** @throws problems validation_failed, version_mismatch. */
  async function update(caller: Caller, id: string, { enabled, ...patch }: WebhookPatch, precondition: Precondition) {
    const changed = patch.url === undefined ? patch : { ...patch, url: checkedUrl(patch.url) };
    const edit: Edit = (before) => {
      precondition(() => [taggedView(before)]);
      const isMoved = changed.url !== undefined && changed.url !== before.url;
      const isOn = enabled ?? before.disabled === null;
      const now = clock.now();
      const delivery = enabled === undefined && !isMoved ? {} : restarted(before, isOn, isMoved, now);
      if (isDeepStrictEqual({ ...before, ...changed, ...delivery }, before)) return {};
      return { ...changed, ...delivery, updated_at: timestamp(now) };
    };
    const before = await store.get(caller.accountId, id);
    if (Object.keys(edit(before)).length === 0) return render(before); // nor is it in the audit
    const host = changed.url === undefined ? {} : { host: new URL(changed.url).host };
    const filter = changed.states === undefined ? {} : { states: changed.states?.join(" ") ?? null };
    const details = { ...host, ...filter, ...(enabled === undefined ? {} : { enabled }) };
    return render(await audited(caller, "set", id, details, () => store.change(caller.accountId, id, edit)));
  }

  /** Returns what begins the deliveries of a webhook anew, with what it has to tell, or ends them. */
  function restarted(before: WebhookRecord, enabled: boolean, isMoved: boolean, now: number): Partial<WebhookRecord> {
    const { disabled, due_at } = before;
    const untold = { ...NOTHING, since: before.telling ?? before.since };
    if (!enabled) return disabled === null ? { ...untold, disabled: { at: timestamp(now), reason: "requested" } } : {};
    if (disabled !== null)
      return { ...untold, since: untold.since ?? Date.parse(disabled.at), disabled: null, due_at: now };
    if (waitsForRetry(before)) return { ...untold, due_at: now };
    return isMoved && due_at !== null ? { ...untold, due_at } : {}; // what is under way went to the other URL
  }

  /** @throws problem version_mismatch */
  async function remove(caller: Caller, id: string, precondition: Precondition): Promise<undefined> {
    const check = (webhook: WebhookRecord) => precondition(() => [taggedView(webhook)]);
    await store.get(caller.accountId, id).then(check);
    await audited(caller, "delete", id, {}, () => store.remove(caller.accountId, id, check));
    await idempotency.end(caller.accountId, id, problem("not_found", `The webhook ${id} was deleted.`));
  }

  /** Makes a new secret. The one before signs for 24 hours too. */
  async function rotate(caller: Caller, id: string): Promise<WebhookWithSecret> {
    const edit: Edit = ({ secrets }) => {
      const now = clock.now();
      const before = secrets.map(({ secret, until }) => ({ secret, until: until ?? now + DAY_MS }));
      const valid = before.filter(({ until }) => until > now);
      return { secrets: [newSecret(), ...valid].slice(0, MAX_SECRETS), updated_at: timestamp(now) };
    };
    await store.get(caller.accountId, id);
    return withSecret(await audited(caller, "rotate", id, {}, () => store.change(caller.accountId, id, edit)));
  }

  /** Sends one nudge in the background, whatever else is due. If it arrives while a retry waits, the retry goes out at once too. */
  async function test({ accountId }: Caller, id: string): Promise<Webhook> {
    const webhook = await store.get(accountId, id);
    void sendTest(webhook).catch(() => undefined);
    return render(webhook);
  }

  async function sendTest(webhook: WebhookRecord): Promise<void> {
    const { at, status, error, isSent } = await deliver(webhook, { id: newId("msg"), since: clock.now() });
    for (let isWritten = false; !isWritten;) {
      const now = await store.get(webhook.account, webhook.id);
      const retry = isSent && waitsForRetry(now) ? { due_at: clock.now() } : {};
      isWritten = await store.update(now, { last: { at, status, error }, ...retry });
    }
  }

  return { create, list, read, update, remove, rotate, test };
}

function render(webhook: WebhookRecord): Webhook {
  const { id, url, description, states, disabled, last, due_at, version, created_at, updated_at } = webhook;
  return {
    object: "webhook",
    id,
    url,
    description,
    states: states === null ? null : [...states],
    enabled: disabled === null,
    disabled_reason: disabled?.reason ?? null,
    disabled_at: disabled?.at ?? null,
    last_delivery: last,
    next_attempt_at: waitsForRetry(webhook) ? timestamp(due_at ?? 0) : null,
    version,
    created_at,
    updated_at,
  };
}

/** Returns what If-Match compares. It leaves out what changes with each delivery. */
function taggedView(webhook: WebhookRecord) {
  const { last_delivery: _last, next_attempt_at: _next, ...tagged } = render(webhook);
  return tagged;
}

function withSecret(webhook: WebhookRecord): WebhookWithSecret {
  return { ...render(webhook), secret: webhook.secrets[0]?.secret ?? "" };
}
