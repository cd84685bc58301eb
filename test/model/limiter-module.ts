import { SURFACES } from "../../src/limiter/surfaces.ts";
import type { GrantRow, UsageEvent } from "./limiter-calls.ts";
import type { LimiterEvent } from "./limiter-events.ts";

/** What was done to the limiter's keys of one account, in Redis's order. */
export interface LimiterTrace {
  readonly account: string;
  readonly windowMs: number;
  readonly events: readonly LimiterEvent[];
}

/** TLC's numbers have 32 bits. Ends of grants and secrets may be further away than that: they count as this far. */
const FAR = 2_000_000_000;
/** The answer of an event "version" that was lost: TLC compares no number with a word. */
const LOST_VERSION = -1;

/**
 * Writes traces as a module that extends LimiterTrace.tla and defines `TheTraces`. All of them have one length of window.
 * Each event is a list, as LimiterTrace.tla explains.
 */
export function moduleOf(name: string, traces: readonly LimiterTrace[]): string {
  const definitions = traces.map((trace, index) => {
    const events = new Translator(trace).events();
    return `Trace${index + 1} == <<\n${events.join(",\n")}\n>>`;
  });
  const all = `TheTraces == <<${traces.map((_, index) => `Trace${index + 1}`).join(", ")}>>`;
  return [`---- MODULE ${name} ----`, "EXTENDS LimiterTrace", ...definitions, all, "====", ""].join("\n");
}

/** Writes the events of one trace in TLA+: times count from a window's beginning, and ids are small numbers. */
class Translator {
  readonly #trace: LimiterTrace;
  readonly #base: number;
  readonly #keys = new Map<string, number>();
  readonly #grants: readonly string[];

  constructor(trace: LimiterTrace) {
    this.#trace = trace;
    const times = trace.events.flatMap((event) => {
      if (event.do === "usage") return [event.now];
      return event.do === "charge" || event.do === "draw" ? [event.answer?.now ?? event.at] : [];
    });
    // One window earlier, so that a counter of the window before has a number, too.
    const earliest = times.reduce((a, b) => Math.min(a, b), Infinity);
    this.#base = (Math.floor(earliest / trace.windowMs) - 1) * trace.windowMs;
    // The order of the numbers is that of the ids: it decides which of two grants that end together is drawn on.
    this.#grants = [...new Set(trace.events.flatMap(grantsIn))].toSorted();
  }

  events(): string[] {
    return this.#trace.events.map((event) => list(this.#event(event)));
  }

  #event(event: LimiterEvent): (string | number | boolean)[] {
    switch (event.do) {
      case "charge": {
        const { accountLimit, keyLimit, cost, deadline, version, secretEnds, answer } = event;
        const who = [surfaceNumber(event.surface), this.#key(event.key)];
        const claim = [this.#time(deadline), versionOf(version), this.#time(secretEnds)];
        const given = ["charge", ...who, accountLimit, keyLimit, cost, ...claim];
        if (answer === null) return [...given, this.#time(event.at), "lost"];
        const { verdict, accountUsed, keyUsed, window, now } = answer;
        return [...given, this.#time(now), verdict, accountUsed, keyUsed, this.#window(window)];
      }
      case "draw": {
        const { surface, key, cost, deadline, answer } = event;
        const given = ["draw", surfaceNumber(surface), this.#key(key), cost, this.#time(deadline)];
        if (answer === null) return [...given, this.#time(event.at), "lost"];
        const { outcome, grantRemaining, grantAmount, now } = answer;
        return [...given, this.#time(now), outcome, grantRemaining, grantAmount];
      }
      case "list": {
        const rows = event.rows.map((row) => list(this.#grantRow(row)));
        return ["list", surfaceNumber(event.surface), this.#key(event.key), `{${rows.join(", ")}}`];
      }
      case "usage":
        return this.#usage(event);
      case "put": {
        const { amount, expiresAtMs, done } = event;
        return ["put", ...this.#grant(event), amount, this.#time(expiresAtMs), yesOrNo(done)];
      }
      case "fill":
        return ["fill", ...this.#grant(event), event.amount, yesOrNo(event.done)];
      case "remove":
        return ["remove", ...this.#grant(event), yesOrNo(event.done)];
      case "version": {
        const { version, deadline, over, known } = event;
        return ["version", version, this.#time(deadline), over, known ?? LOST_VERSION];
      }
      case "ledger": {
        const counts = event.counts.map(({ surface, key, used }) => {
          const name = key === null ? [surfaceNumber(surface)] : [surfaceNumber(surface), this.#key(key)];
          return list([list(name), used]);
        });
        return ["ledger", event.window === null ? -1 : this.#window(event.window), list(counts)];
      }
      case "flush":
        return ["flush"];
      case "other":
        break;
    }
    throw new Error("A trace ends before such an event.");
  }

  #usage({ key, version, secretEnds, now, refusal, reset, surfaces }: UsageEvent): (string | number)[] {
    const rows = surfaces.map(({ surface, accountUsed, keyUsed }) =>
      list([surfaceNumber(surface), accountUsed, keyUsed]),
    );
    const asked = [this.#key(key), versionOf(version), this.#time(secretEnds), this.#time(now)];
    return ["usage", ...asked, refusal === "" ? "none" : refusal, reset, list(rows)];
  }

  #grant({ id, surface, key }: { id: string; surface: string; key: string }): number[] {
    return [this.#grants.indexOf(id) + 1, surfaceNumber(surface), this.#key(key)];
  }

  #grantRow([id, remaining, expiresAtMs, amount]: GrantRow): number[] {
    return [this.#grants.indexOf(id) + 1, remaining, this.#time(expiresAtMs), amount];
  }

  #key(id: string): number {
    const known = this.#keys.get(id) ?? this.#keys.size + 1;
    this.#keys.set(id, known);
    return known;
  }

  /** Windows count from the trace's beginning. The answer of a stale charge names none: it stays 0. */
  #window(window: number): number {
    return window === 0 ? 0 : window - this.#base / this.#trace.windowMs;
  }

  /** 0 stays 0: it means that there is none. A time before the trace's beginning is 1, which is in the past as well. */
  #time(ms: number): number {
    return ms === 0 ? 0 : Math.max(1, bounded(ms - this.#base));
  }
}

function grantsIn(event: LimiterEvent): string[] {
  if (event.do === "put" || event.do === "fill" || event.do === "remove") return [event.id];
  return event.do === "list" ? event.rows.map(([id]) => id) : [];
}

function surfaceNumber(surface: string): number {
  return (SURFACES as readonly string[]).indexOf(surface) + 1;
}

/** A version that is not checked is AnyVersion of LimiterScript.tla. */
function versionOf(version: number | null): number {
  return version ?? FAR;
}

function bounded(value: number): number {
  return Math.min(value, FAR);
}

function yesOrNo(done: boolean | null): string {
  return done === null ? "lost" : done ? "yes" : "no";
}

/** Returns a list in TLA+. Words become strings; what begins as a list or a set is one already. */
function list(values: readonly (string | number | boolean)[]): string {
  const members = values.map((value) => {
    if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
    return typeof value === "number" || value.startsWith("<<") || value.startsWith("{") ? value : JSON.stringify(value);
  });
  return `<<${members.join(", ")}>>`;
}
