import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Caller } from "../../src/accounts/caller.ts";
import { connectRedis } from "../../src/infra/redis.ts";
import { GrantCounters } from "../../src/limiter/grant-counters.ts";
import { charge, drawGrant } from "../../src/limiter/scripts.ts";
import { clearOfMidnight, newCaller, raiseTo, redisNow, useTestRedis } from "../limiter/support.ts";
import type { ChargeEvent, DrawEvent } from "./limiter-calls.ts";
import type { LimiterEvent, ListEvent, VersionEvent } from "./limiter-events.ts";
import type { LimiterTrace } from "./limiter-module.ts";
import { readTraces, refusedOf } from "./limiter-trace.ts";
import { startRecorder } from "./redis-recorder.ts";

const DAY_MS = 86_400_000;
const LIMITS = { account: 7, key: 3 };
const VERSION = 5;
/** The places of the events in the recorded trace: see `record`. */
const RAISED = 0;
const ISSUED = 1;
const FIRST = 2;
const SECOND = 3;
const REFUSED = 5;
const DRAWN = 7;
const LISTED = 8;

describe("a trace of the limiter that was made false is refused:", function () {
  this.timeout(60_000);
  const redis = useTestRedis();
  let trace: LimiterTrace;
  before(async () => {
    await clearOfMidnight(redis);
    trace = await record(newCaller());
  });

  /**
   * Raises the version, and issues a grant for the caller's key. Its charges are admitted, another key's costs too much, and
   * one that is refused draws on the grant. Then the grants are read.
   */
  async function record(caller: Caller): Promise<LimiterTrace> {
    const folder = mkdtempSync(join(tmpdir(), "onboarding-traces-"));
    const recorder = await startRecorder(Number(new URL(process.env.REDIS_URL ?? "").port), folder);
    const client = await connectRedis({ url: `redis://127.0.0.1:${recorder.port}`, timeoutMs: 5_000 });
    const asked = { surface: "start", limits: LIMITS, windowSeconds: DAY_MS / 1000, deadlineMs: 0 } as const;
    const claim = { accountVersion: VERSION, secretEndsAt: 0 };
    const ask = (of: Caller, cost = 1) => charge(client, { ...asked, ...claim, caller: of, cost });
    await raiseTo(client, caller.accountId, VERSION);
    const grant = { grantId: "grant_a", surface: "start", amount: 5 } as const;
    const grants = new GrantCounters(client);
    await grants.put({ ...caller, ...grant, expiresAtMs: (await redisNow(redis)) + 60_000 });
    for (let charged = 0; charged < LIMITS.key; charged++) await ask(caller);
    await ask(newCaller(caller.accountId), LIMITS.key + 1);
    await ask(caller);
    await drawGrant(client, { ...asked, caller, cost: 1 });
    await grants.list(caller, "start");
    client.disconnect();
    await recorder.close();
    return readTraces(folder)[0]!;
  }

  /** Returns the trace with another event at this place. */
  function changed(place: number, change: (event: ChargeEvent) => Partial<ChargeEvent>): LimiterTrace {
    const event = trace.events[place] as ChargeEvent;
    return { ...trace, events: trace.events.with(place, { ...event, ...change(event) }) };
  }

  function answering(place: number, words: Partial<NonNullable<ChargeEvent["answer"]>>): LimiterTrace {
    return changed(place, ({ answer }) => ({ answer: answer && { ...answer, ...words } }));
  }

  function drawing(words: Partial<NonNullable<DrawEvent["answer"]>>): LimiterTrace {
    const { answer, ...event } = trace.events[DRAWN] as DrawEvent;
    return { ...trace, events: trace.events.with(DRAWN, { ...event, answer: answer && { ...answer, ...words } }) };
  }

  function listing(rows: ListEvent["rows"]): LimiterTrace {
    const event = trace.events[LISTED] as ListEvent;
    return { ...trace, events: trace.events.with(LISTED, { ...event, rows }) };
  }

  /** Returns the trace with one more event at this place. */
  function inserted(place: number, event: LimiterEvent): LimiterTrace {
    return { ...trace, events: trace.events.toSpliced(place, 0, event) };
  }

  function raised(call: Partial<VersionEvent>): VersionEvent {
    return { do: "version", account: trace.account, version: VERSION, deadline: 0, over: 0, known: VERSION, ...call };
  }

  /** Returns the draw as if another key had made it. */
  function drawn(key: string): DrawEvent {
    return { ...(trace.events[DRAWN] as DrawEvent), key, at: (trace.events[REFUSED - 1] as ChargeEvent).at };
  }

  /** Returns a charge that counts in the next window: only the clock shows that it is false. */
  function aWindowAhead(place: number): LimiterTrace {
    const { answer } = trace.events[place] as ChargeEvent;
    const fresh = { window: answer!.window + 1, accountUsed: 1, keyUsed: 1 };
    return answering(place, { now: answer!.now + DAY_MS, ...fresh });
  }

  const without = (place: number): LimiterTrace => ({ ...trace, events: trace.events.toSpliced(place, 1) });
  const swapped = (place: number): LimiterEvent[] =>
    trace.events.with(place, trace.events[place + 1]!).with(place + 1, trace.events[place]!);

  /** Each change makes the trace false, and the module refuses it at this place. */
  const FALSE: Record<string, { make: () => LimiterTrace; refusedAt: number }> = {
    "one charge more is admitted": { make: () => answering(REFUSED, { verdict: "admitted" }), refusedAt: REFUSED },
    "a number is wrong": { make: () => answering(SECOND, { accountUsed: 1 }), refusedAt: SECOND },
    "the window is wrong": {
      make: () => changed(SECOND, ({ answer }) => ({ answer: answer && { ...answer, window: answer.window + 1 } })),
      refusedAt: SECOND,
    },
    "a grant is drawn on that is none": { make: () => inserted(REFUSED, drawn("another")), refusedAt: REFUSED },
    "a grant is not drawn on": { make: () => drawing({ outcome: "none", grantRemaining: 5 }), refusedAt: DRAWN },
    "more is left of a grant": { make: () => drawing({ grantRemaining: 5 }), refusedAt: DRAWN },
    "a draw is left out": { make: () => without(DRAWN), refusedAt: LISTED - 1 },
    "a grant is not listed": { make: () => listing([]), refusedAt: LISTED },
    "a charge is left out": { make: () => without(SECOND), refusedAt: SECOND },
    "two charges change places": { make: () => ({ ...trace, events: swapped(SECOND) }), refusedAt: SECOND },
    "the issue of the grant is left out": { make: () => without(ISSUED), refusedAt: DRAWN - 1 },
    "the answer's clock is a window ahead": { make: () => aWindowAhead(SECOND), refusedAt: SECOND },
    "a key of an older version is admitted": {
      make: () => inserted(SECOND, raised({ version: VERSION + 1, known: VERSION + 1 })),
      refusedAt: SECOND + 1,
    },
    "a key is admitted although Redis knows no version": { make: () => without(RAISED), refusedAt: FIRST - 1 },
    "a version is lowered": {
      make: () => inserted(SECOND, raised({ version: VERSION - 1, known: VERSION - 1 })),
      refusedAt: SECOND,
    },
    "a version is not taken in": { make: () => inserted(SECOND, raised({ known: 0 })), refusedAt: SECOND },
    "a charge whose answer was lost counted twice": {
      make: () => {
        const { events } = changed(SECOND, () => ({ answer: null }));
        return {
          ...trace,
          events: events.with(SECOND + 1, answering(SECOND + 1, { accountUsed: 4 }).events[SECOND + 1]!),
        };
      },
      refusedAt: SECOND + 1,
    },
  };

  /** A charge whose answer was lost counted or did not. */
  const TRUE: Record<string, () => LimiterTrace> = {
    "as it was recorded": () => trace,
    "a version is lowered from the one that it names": () => {
      const lowered = raised({ version: VERSION - 1, over: VERSION, known: VERSION - 1 });
      return { ...trace, events: [...trace.events, lowered] };
    },
    "a version comes after its deadline, and is not taken in": () =>
      inserted(SECOND, raised({ version: VERSION + 1, deadline: 1, known: 0 })),
    "a version's answer is lost": () => inserted(SECOND, raised({ version: VERSION + 1, known: null })),
    "an answer is lost, and the charge counted": () => changed(SECOND, () => ({ answer: null })),
    "an answer is lost, and the charge did not count": () => {
      const { at } = trace.events[SECOND - 1] as ChargeEvent;
      const { events } = changed(SECOND, () => ({ answer: null, at }));
      return inserted(SECOND, events[SECOND]!);
    },
  };

  /** The places at which TLC refused, by name; it checks all traces in one run. */
  let refusedAt: Map<string, number>;
  before(async () => {
    const made = new Map(
      [...Object.entries(FALSE).map(([name, { make }]) => [name, make] as const), ...Object.entries(TRUE)].map(
        ([name, make]) => [make(), name],
      ),
    );
    const refused = await refusedOf([...made.keys()]);
    refusedAt = new Map(refused.map((each) => [made.get(each.trace)!, each.event - 1]));
  });

  it("it has every kind of answer that is changed", () => {
    const verdicts = trace.events.flatMap((event) => (event.do === "charge" ? [event.answer?.verdict] : []));
    expect(verdicts).to.deep.equal(["admitted", "admitted", "admitted", "key_exhausted", "key_exhausted"]);
    expect((trace.events[DRAWN] as DrawEvent).answer).to.include({ outcome: "drawn", grantRemaining: 4 });
  });

  for (const [name, { refusedAt: place }] of Object.entries(FALSE))
    it(name, () => expect(refusedAt.get(name)).to.equal(place));

  for (const name of Object.keys(TRUE))
    it(`and accepted if it is true: ${name}`, () => expect(refusedAt.has(name)).to.equal(false));
});
