import type { Candidate, CandidateList } from "../../../candidates/schema.ts";
import type { Limits } from "../../../limits/schema.ts";
import type { Surface } from "../../../limiter/surfaces.ts";
import type { Answer } from "./answer.ts";
import { ask, bytesOf, json, Turns } from "./ask.ts";
import { barsOf, newsOf } from "./bars.ts";
import { costOf } from "./cost.ts";
import { empty, isDeleted, type ListQuery, listPath, type Model, withCandidate, withRows } from "./model.ts";
import { storedKeys, storeKeys } from "../session-key.ts";
import { addressOf, type Page } from "./page.ts";
import { afterCharge, type Reading } from "./reading.ts";
import { count } from "./text.ts";
import { troubleOf, Watch, type WatchState } from "./watch.ts";
import { faultOf, refusalInWords, troubleInWords, whyNot } from "./wording.ts";

const LIMITS_TIMEOUT_MS = 10_000;
/** A file of 25 MiB may come over a slow line. */
const CLICK_TIMEOUT_MS = 180_000;

/** Holds what the page shows, and does what the reader clicks. Every change is followed by `changed`. */
export class App {
  readonly model: Model;
  readonly #changed: () => void;
  readonly #turns = new Turns();
  /** Aborted when the key is forgotten: requests that were sent with it end at once. */
  #using = new AbortController();
  readonly watch: Watch;

  constructor(page: Page, changed: () => void) {
    this.#changed = changed;
    this.model = { ...empty(), page, keys: storedKeys() };
    this.watch = new Watch({
      ask: (key) => this.#askLimits(key),
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

  async enter(text: string): Promise<void> {
    const key = text.trim();
    const fault = faultOf(key);
    if (fault !== undefined) return this.#set({ entry: { checking: false, fault } });
    this.#set({ entry: { checking: true, fault: "" } });
    const answer = await this.#askLimits(key);
    if (answer.kind !== "answered") return this.#set({ entry: { checking: false, fault: whyNot(answer) } });
    this.#use([key]);
    this.#set({ entry: { checking: false, fault: "" }, said: "The key works. The limits follow." });
    this.#read(key, { limits: answer.body, at: performance.now() });
  }

  /** Adds another key of the same account, which says what that key spent. */
  async add(text: string): Promise<boolean> {
    const key = text.trim();
    const fault = faultOf(key) ?? (this.model.keys.includes(key) ? "This key is already here." : undefined);
    if (fault !== undefined) return this.#refuseOther(fault);
    const [own] = this.model.keys;
    this.#set({ otherEntry: { checking: true, fault: "" } });
    const answer = await this.#askLimits(key);
    if (this.model.keys[0] !== own) return false; // the reader has forgotten the keys meanwhile
    if (answer.kind !== "answered") return this.#refuseOther(whyNot(answer));
    const known = this.model.keys.flatMap((each) => this.model.readings.get(each)?.limits ?? []);
    if (known.some(({ account_id }) => account_id !== answer.body.account_id))
      return this.#refuseOther("This key belongs to another account.");
    if (known.some(({ key_id }) => key_id === answer.body.key_id))
      return this.#refuseOther("This key is already here.");
    this.#use([...this.model.keys, key]);
    this.#set({ otherEntry: { checking: false, fault: "" } });
    this.#read(key, { limits: answer.body, at: performance.now() });
    return true;
  }

  remove(key: string): void {
    this.#use(this.model.keys.filter((each) => each !== key));
    this.#changed();
  }

  /** Forgets the keys and everything that was read with them. */
  forget(): void {
    this.#using.abort();
    this.#using = new AbortController();
    this.#dropFiles("/");
    this.#use([]);
    history.replaceState(null, "", addressOf({ kind: "limits" }));
    this.#set({ ...empty(), said: "The key is forgotten." });
  }

  askAgain(): void {
    this.watch.start(this.model.keys);
  }

  /** Reads the first page of a list, or, without a query, the next one. */
  async readList(asked?: ListQuery): Promise<void> {
    const before = asked === undefined ? this.model.list : undefined;
    const query = asked ?? before?.query;
    if (query === undefined) return;
    const path = listPath(query, before?.cursor, Date.now());
    const answer = await this.#click("list", "/candidates", path, json<CandidateList>);
    if (answer?.kind !== "answered") return;
    const { data, cursor, has_more: hasMore } = answer.body;
    this.#set({ list: { query, rows: withRows(before?.rows ?? [], data), cursor, hasMore, readAt: new Date() } });
    for (const row of data) this.#hold(row.id, isDeleted(row) ? undefined : row);
  }

  async readCandidate(id: string): Promise<void> {
    const path = `/candidates/${encodeURIComponent(id)}`;
    const answer = await this.#click("reads", path, path, json<Candidate>);
    if (answer?.kind === "answered") this.#hold(id, answer.body);
    // The person was erased meanwhile, so nothing of them stays here either.
    if (answer?.kind === "refused" && [404, 410].includes(answer.refusal.status)) this.#hold(id, undefined);
  }

  /** Reads a file and keeps it in this tab, to be opened or saved. A PDF that the service made may be opened. */
  async readFile(
    surface: Surface,
    path: string,
    { filename, opens }: { filename: string; opens: boolean },
  ): Promise<void> {
    const answer = await this.#click(
      surface,
      path,
      path,
      bytesOf(opens ? "application/pdf" : "application/octet-stream"),
    );
    if (answer?.kind !== "answered") return;
    const saved = { url: URL.createObjectURL(answer.body), filename, size: answer.body.size };
    this.#set({ files: new Map(this.model.files).set(path, saved), said: `${filename} is here.` });
  }

  /** Sends the request of a click, and counts what it was charged. @returns undefined if it was not sent, or if the key was forgotten meanwhile. */
  async #click<T>(
    surface: Surface,
    name: string,
    path: string,
    read: (response: Response) => Promise<T>,
  ): Promise<Answer<T> | undefined> {
    const [key] = this.model.keys;
    if (key === undefined || this.model.busy !== undefined) return undefined;
    this.#set({ busy: name, failure: undefined, said: "" });
    const { signal } = this.#using;
    const answer = await this.#turns.run(() => ask({ key, path, read, timeoutMs: CLICK_TIMEOUT_MS, signal }));
    if (this.model.keys[0] !== key) return undefined;
    if (answer.kind !== "unreachable") this.#charge(key, surface, answer.headers.get("RateLimit"));
    if (answer.kind === "answered") {
      this.#set({ busy: undefined, said: this.#leftOf(key, surface) });
      return answer;
    }
    const said = answer.kind === "refused" ? refusalInWords(answer.refusal) : "No answer came.";
    this.#set({ busy: undefined, failure: { path: name, answer, at: new Date() }, said });
    if (answer.kind === "refused" && answer.refusal.status === 401) this.askAgain();
    return answer;
  }

  /** Keeps what was read of a candidate; undefined if the candidate is gone. A file belongs to the version it was read at. */
  #hold(id: string, candidate: Candidate | undefined): void {
    const candidates = new Map(this.model.candidates);
    if (candidates.get(id)?.candidate.version !== candidate?.version) this.#dropFiles(`/candidates/${id}/`);
    if (candidate === undefined) candidates.delete(id);
    else candidates.set(id, { candidate, readAt: new Date() });
    this.#set({ candidates, list: withCandidate(this.model.list, id, candidate) });
  }

  #dropFiles(under: string): void {
    const files = [...this.model.files];
    for (const [path, { url }] of files) if (path.startsWith(under)) URL.revokeObjectURL(url);
    this.#set({ files: new Map(files.filter(([path]) => !path.startsWith(under))) });
  }

  /** Announces the beginning and the end of a trouble, not each attempt in between. */
  #watched(watch: WatchState): void {
    const before = this.model.trouble;
    const trouble = watch.kind === "asking" || watch.kind === "paused" ? before : troubleOf(watch);
    const said =
      trouble?.kind === before?.kind
        ? {}
        : { said: trouble === undefined ? "The limits are live." : troubleInWords(trouble) };
    this.#set({ watch, trouble, ...said });
  }

  #askLimits(key: string): Promise<Answer<Limits>> {
    const { signal } = this.#using;
    return this.#turns.run(() =>
      ask({ key, path: "/limits", read: json<Limits>, timeoutMs: LIMITS_TIMEOUT_MS, signal }),
    );
  }

  #charge(key: string, surface: Surface, header: string | null): void {
    const reading = this.model.readings.get(key);
    if (reading !== undefined) this.#read(key, afterCharge(reading, surface, header));
  }

  #leftOf(key: string, surface: Surface): string {
    const cost = costOf(this.model.readings.get(key), surface);
    return cost === undefined ? "" : `Charged 1 ${surface} request. ${count(cost.left)} left.`;
  }

  #read(key: string, reading: Reading): void {
    const before = this.#bars();
    const readings = new Map(this.model.readings).set(key, reading);
    this.model.readings = readings;
    const news = newsOf(before, this.#bars());
    this.#set(news === "" ? {} : { said: news });
  }

  #bars() {
    const { keys, readings } = this.model;
    return barsOf(
      keys.flatMap((key) => readings.get(key) ?? []),
      performance.now(),
    );
  }

  #use(keys: readonly string[]): void {
    const readings = new Map([...this.model.readings].filter(([key]) => keys.includes(key)));
    Object.assign(this.model, { keys, readings });
    storeKeys(keys);
    this.watch.start(keys);
  }

  #refuseOther(fault: string): false {
    this.#set({ otherEntry: { checking: false, fault } });
    return false;
  }

  #set(change: Partial<Model>): void {
    Object.assign(this.model, change);
    this.#changed();
  }
}
