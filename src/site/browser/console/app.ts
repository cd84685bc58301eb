import type { Candidate } from "../../../candidates/schema.ts";
import type { CandidateList } from "../../../candidates/row-schema.ts";
import type { Limits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";
import type { CandidateOutreach } from "../../../reminders/history-schema.ts";
import type { UsageReport } from "../../../usage/schema.ts";
import type { WebhookList } from "../../../webhooks/schema.ts";
import { barsOf, costOf, newsOf, type Reading, requestOf } from "./limits.ts";
import { isCandidate, type ListQuery, listPath, Model, withCandidate, withRows } from "./model.ts";
import { faultOf, storedKeys, storeKeys } from "../session-key.ts";
import { addressOf, type Page } from "./page.ts";
import { bytesOf, json, type Send, sender } from "./request.ts";
import { type Failure, inWords, type Result } from "./result.ts";
import { count } from "./text.ts";
import { Watch, type WatchState } from "./watch.ts";
import { testNudge } from "./webhooks.ts";

const FREE_TIMEOUT_MS = 10_000;
/** The service writes usage down once a minute. */
const USAGE_EVERY_MS = 60_000;
/** A file of 25 MiB may come over a slow line. */
const CLICK_TIMEOUT_MS = 180_000;

export interface FileRequest {
  readonly surface: Surface;
  readonly path: string;
  readonly filename: string;
  /** True if a tab may show the file. It may show only files that the service itself made. */
  readonly opens: boolean;
}

/** Holds what the page shows, and does what the reader clicks. Every change is followed by `changed`. */
export class App {
  readonly model = new Model();
  readonly #changed: () => void;
  /** Aborted when the key is forgotten: requests that were sent with it end at once. */
  #forgotten = new AbortController();
  readonly watch: Watch;
  /** When the usage is read again, in milliseconds of `performance.now()`. */
  #usageDue = 0;

  constructor(page: Page, changed: () => void) {
    this.#changed = changed;
    Object.assign(this.model, { page, keys: storedKeys() });
    this.watch = new Watch({
      get: (key) => this.#getFree<Limits>(key, "/limits"),
      now: () => performance.now(),
      after: (ms, work) => {
        const timer = setTimeout(work, ms);
        return () => clearTimeout(timer);
      },
      changed: (watch) => this.#watched(watch),
      read: (key, reading) => this.#read(key, reading),
    });
  }

  show(page: Page): void {
    this.#set({ page, failure: undefined });
  }

  /** Adds a key after reading its limits. The first one opens the console. Returns whether it was added. */
  async add(text: string): Promise<boolean> {
    const key = text.trim();
    const [own] = this.model.keys;
    const fault = faultOf(key) ?? (this.model.keys.includes(key) ? "This key is already here." : undefined);
    if (fault !== undefined) return this.#refuse(fault);
    this.#set({ entry: { checking: true, fault: "" } });
    const result = await this.#getFree<Limits>(key, "/limits");
    if (this.model.keys[0] !== own) return false; // the reader has forgotten the keys by now
    if (result.kind !== "ok") return this.#refuse(whyNot(result));
    const known = this.model.known().map(({ limits }) => limits);
    if (known.some(({ account_id }) => account_id !== result.body.account_id))
      return this.#refuse("This key belongs to another account.");
    if (known.some(({ key_id }) => key_id === result.body.key_id)) return this.#refuse("This key is already here.");
    this.#use([...this.model.keys, key]);
    this.#set({ entry: { checking: false, fault: "" } });
    if (own === undefined) this.#set({ said: "The key works. The limits follow." });
    this.#read(key, { limits: result.body, at: performance.now() });
    return true;
  }

  remove(key: string): void {
    this.#use(this.model.keys.filter((each) => each !== key));
    this.#changed();
  }

  /** Forgets the keys and everything that was read with them. */
  forget(): void {
    this.#forgotten.abort();
    this.#forgotten = new AbortController();
    this.#dropFiles("/");
    this.#usageDue = 0;
    this.#use([]);
    history.replaceState(null, "", addressOf({ kind: "limits" }));
    this.#set(new Model());
    this.#set({ said: "The key is forgotten." });
  }

  /** Polls the limits at once, also if the watch has stopped. */
  poll(): void {
    this.watch.start(this.model.keys);
  }

  /** Reads the first page of a list, or, without a query, the next one. */
  async readList(first?: ListQuery): Promise<void> {
    const before = first === undefined ? this.model.list : undefined;
    const query = first ?? before?.query;
    if (query === undefined) return;
    const path = listPath(query, before?.cursor, Date.now());
    const result = await this.#click("list", "/candidates", (send) => send(path, json<CandidateList>));
    if (result?.kind !== "ok") return;
    const { data, cursor, has_more: hasMore } = result.body;
    this.#set({ list: { query, rows: withRows(before?.rows ?? [], data), cursor, hasMore, readAt: new Date() } });
    for (const row of data) this.#hold(row.id, isCandidate(row) ? row : undefined);
  }

  async readCandidate(id: string): Promise<void> {
    const path = `/candidates/${encodeURIComponent(id)}`;
    const result = await this.#click("reads", path, (send) => send(path, json<Candidate>));
    if (result?.kind === "ok") this.#hold(id, result.body);
    // The person was erased, so nothing of them stays here either.
    if (result?.kind === "refused" && [404, 410].includes(result.refusal.status)) this.#hold(id, undefined);
  }

  /** Reads the messages that were sent about a candidate. */
  async readOutreach(id: string): Promise<void> {
    const path = `/candidates/${encodeURIComponent(id)}/outreach`;
    const result = await this.#click("reads", path, (send) => send(path, json<CandidateOutreach>));
    if (result?.kind === "ok") this.#set({ histories: new Map(this.model.histories).set(id, result.body) });
    if (result?.kind === "refused" && [404, 410].includes(result.refusal.status)) this.#hold(id, undefined);
  }

  /** Reads a file and keeps it in this tab, to be opened or saved. A PDF that the service made may be opened. */
  async readFile({ surface, path, filename, opens }: FileRequest): Promise<void> {
    const read = bytesOf(opens ? "application/pdf" : "application/octet-stream");
    const result = await this.#click(surface, path, (send) => send(path, read));
    if (result?.kind !== "ok") return;
    const saved = { url: URL.createObjectURL(result.body), filename, size: result.body.size };
    this.#set({ files: new Map(this.model.files).set(path, saved), said: `${filename} is here.` });
  }

  async readWebhooks(): Promise<void> {
    const result = await this.#click("reads", "/webhooks", (send) => send("/webhooks", json<WebhookList>));
    if (result?.kind === "ok") this.#set({ webhooks: result.body.data, webhooksReadAt: new Date() });
  }

  async testWebhook(id: string): Promise<void> {
    const result = await this.#click("settings", `/webhooks/${id}`, (send) => testNudge(id, send));
    if (result?.kind !== "ok") return;
    const { webhook, text } = result.body;
    const webhooks = this.model.webhooks?.map((each) => (each.id === id ? webhook : each));
    this.#set({ webhooks, tested: { id, text }, said: text });
  }

  /**
   * Sends the request of a click, then reads what is left of the limits.
   * @returns undefined if it was not sent, or if the key was forgotten by then.
   */
  async #click<T>(surface: Surface, name: string, run: (send: Send) => Promise<Result<T>>) {
    const [key] = this.model.keys;
    if (key === undefined || this.model.busy !== undefined) return undefined;
    this.#set({ busy: name, failure: undefined, tested: undefined, said: "" });
    const { signal } = this.#forgotten;
    const result = await run(sender({ key, timeoutMs: CLICK_TIMEOUT_MS, signal }));
    const limits = result.kind === "ok" ? await this.#getFree<Limits>(key, "/limits") : undefined;
    if (signal.aborted) return undefined;
    if (result.kind === "ok") {
      if (limits?.kind === "ok") this.#read(key, { limits: limits.body, at: performance.now() });
      const left = costOf(this.model.readings.get(key), surface)?.left ?? 0;
      this.#set({ busy: undefined, said: `Charged 1 ${requestOf(surface)}. ${count(left)} left.` });
      return result;
    }
    this.#set({ busy: undefined, failure: { path: name, result, at: new Date() }, said: inWords(result) });
    if (result.kind === "refused") this.poll();
    return result;
  }

  /** Keeps what was read of a candidate; undefined if the candidate is gone. A file belongs to the version it was read at. */
  #hold(id: string, candidate: Candidate | undefined): void {
    const candidates = new Map(this.model.candidates);
    if (candidates.get(id)?.candidate.version !== candidate?.version) this.#dropFiles(`/candidates/${id}/`);
    const histories = new Map(this.model.histories);
    if (candidate === undefined) {
      candidates.delete(id);
      histories.delete(id);
    } else candidates.set(id, { candidate, readAt: new Date() });
    this.#set({ candidates, histories, list: withCandidate(this.model.list, id, candidate) });
  }

  #dropFiles(under: string): void {
    const files = [...this.model.files];
    for (const [path, { url }] of files) if (path.startsWith(under)) URL.revokeObjectURL(url);
    this.#set({ files: new Map(files.filter(([path]) => !path.startsWith(under))) });
  }

  /** Announces the beginning and the end of an outage, not each attempt in between. */
  #watched(watch: WatchState): void {
    const inText = ({ failure }: WatchState) => (failure ? inWords(failure.result) : "The limits are live.");
    const said = inText(watch);
    this.#set(said === inText(this.model.watch) ? { watch } : { watch, said });
  }

  #getFree<T>(key: string, path: string): Promise<Result<T>> {
    return sender({ key, timeoutMs: FREE_TIMEOUT_MS, signal: this.#forgotten.signal })(path, json<T>);
  }

  #read(key: string, reading: Reading): void {
    const before = barsOf(this.model.known(), performance.now());
    this.model.readings = new Map(this.model.readings).set(key, reading);
    const news = newsOf(before, barsOf(this.model.known(), performance.now()));
    this.#set(news === "" ? {} : { said: news });
    if (key === this.model.keys[0] && performance.now() >= this.#usageDue) void this.#readUsage(key);
  }

  /** Reads the last 24 hours. If that fails, the page goes on with what it has. */
  async #readUsage(key: string): Promise<void> {
    this.#usageDue = performance.now() + USAGE_EVERY_MS;
    const result = await this.#getFree<UsageReport>(key, "/limits/usage");
    if (result.kind === "ok" && this.model.keys[0] === key) this.#set({ usage: result.body });
  }

  #use(keys: readonly string[]): void {
    const readings = new Map([...this.model.readings].filter(([key]) => keys.includes(key)));
    Object.assign(this.model, { keys, readings });
    storeKeys(keys);
    this.watch.start(keys);
  }

  #refuse(fault: string): false {
    this.#set({ entry: { checking: false, fault } });
    return false;
  }

  #set(change: Partial<Model>): void {
    Object.assign(this.model, change);
    this.#changed();
  }
}

function whyNot(failure: Failure): string {
  if (failure.kind === "unreachable") return `${inWords(failure)} Check the network, then try again.`;
  const { status, retryAfter } = failure.refusal;
  return inWords(failure) + (status === 429 && retryAfter !== undefined ? ` Wait ${retryAfter} s.` : "");
}
