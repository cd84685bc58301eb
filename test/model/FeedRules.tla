----------------------------- MODULE FeedRules -----------------------------
(***************************************************************************)
(* The rules of the change feed that need no state: what a write's place   *)
(* is, what a page holds, and where the cursor goes. Feed.tla checks that  *)
(* they suffice. FeedTrace.tla checks that the service keeps them.         *)
(* Feed.tla explains the notation.                                         *)
(***************************************************************************)
EXTENDS Integers, FiniteSets, Sequences

CONSTANTS
  Candidates,   \* The candidates of one account: numbers 1, 2, ...
  Protections   \* What is in force. A mutant is a run that lacks one of them.

Has(protection) == protection \in Protections

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b
Least(S) == CHOOSE x \in S : \A y \in S : x <= y

\* A place is text in the service: the time, a dot, and the candidate. Here it is one number that sorts the same way.
\* code: src/candidates/stored.ts | change: `${feedPosition(at)}.${id}`,
Stride == Cardinality(Candidates) + 1
Place(time, c) == time * Stride + c

\* The place before every change that was made at that time.
\* code: src/candidates/feed-clock.ts | return String(Math.max(epochMs, 0)).padStart(15, "0");
Position(time) == Max(time, 0) * Stride

\* No candidate, or one that does not exist yet.
Missing == [v |-> 0, at |-> 0, del |-> FALSE]

\* The time of a write's place. It comes after the version that it replaces, even if the clock of the writer is behind.
\* code: src/candidates/store.ts | const reserved = this.feedClock.reserve(Date.parse(before.updated_at));
\* code: src/candidates/feed-clock.ts | const at = Math.max(this.now(), after + 1);
NextTime(clock, before) ==
  IF before.v > 0 /\ Has("place-after-before") THEN Max(clock, before.at + 1) ELSE clock

\* Whether a write that was based on version `before` applies to this row. An insert is based on version 0. The store
\* refuses it if the candidate exists. A replacement names the version that it replaces.
\* code: src/candidates/store.ts | return { replaceOne: { filter: { _id, account, version: before.version }, replacement: document } };
\* code: src/candidates/store.ts | if (before === undefined) return { insertOne: { document } };
Applies(row, before) ==
  IF before > 0 /\ ~Has("compare-and-set") THEN row.v > 0 ELSE row.v = before

\* The candidates whose place is after this one.
Following(rows, after) == {c \in DOMAIN rows : rows[c].v > 0 /\ Place(rows[c].at, c) > after}

\* The first n of these candidates, in the order of their places.
RECURSIVE InOrder(_, _, _)
InOrder(rows, set, n) ==
  IF n = 0 \/ set = {} THEN <<>>
  ELSE LET first == CHOOSE c \in set : \A d \in set : Place(rows[c].at, c) <= Place(rows[d].at, d)
       IN <<[c |-> first, v |-> rows[first].v, at |-> rows[first].at, del |-> rows[first].del]>>
            \o InOrder(rows, set \ {first}, n - 1)

\* A page of the feed: up to `limit` rows after a place, and whether there are more.
\* code: src/candidates/reader.ts | change: { $gt: after },
\* code: src/candidates/reader.ts | if (rows.length === limit || (rows.length > 0 && bytes > MAX_PAGE_BYTES)) return { rows, more: true };
Page(rows, after, limit) ==
  LET set == Following(rows, after)
  IN [rows |-> InOrder(rows, set, limit), more |-> Cardinality(set) > limit]

\* Whether this is that page. It says the same as Page, and TLC answers it sooner if there are many candidates.
IsPage(rows, after, limit, page) ==
  LET set == Following(rows, after)
      n == Len(page.rows)
      given == {page.rows[k].c : k \in 1..n}
      at(k) == Place(page.rows[k].at, page.rows[k].c)
  IN /\ n = Min(limit, Cardinality(set))
     /\ page.more = (Cardinality(set) > limit)
     /\ given \subseteq set
     /\ \A k \in 1..n : LET c == page.rows[k].c
                       IN page.rows[k] = [c |-> c, v |-> rows[c].v, at |-> rows[c].at, del |-> rows[c].del]
     /\ \A k \in 1..(n - 1) : at(k) < at(k + 1)
     /\ \A c \in set \ given : Place(rows[c].at, c) > at(n)

\* The cursor after a page. `until`: no change can appear any more before this time.
\* code: src/candidates/feed.ts | const last = rows.at(-1)?.change ?? from.after;
\* code: src/candidates/feed.ts | const safe = from.safe === from.after ? max(from.safe, min(last, complete)) : from.safe;
\* code: src/candidates/feed.ts | return more ? { after: last, safe } : { after: safe, safe };
Advance(from, page, until) ==
  LET n == Len(page.rows)
      last == IF n = 0 THEN from.after ELSE Place(page.rows[n].at, page.rows[n].c)
      safe == IF from.safe = from.after \/ ~Has("safe-stays-behind")
              THEN Max(from.safe, Min(last, Position(until))) ELSE from.safe
  IN IF page.more THEN [after |-> last, safe |-> safe]
     ELSE IF Has("step-back") THEN [after |-> safe, safe |-> safe]
     ELSE [after |-> last, safe |-> last]

\* The time up to which a replica gives cursors: behind its clock by the lag, and no further than the marks.
\* code: src/candidates/service.ts | const completeUntil = Math.min(store.feedClock.now() - feedLagMs, checkpoints.completeUntil());
\* code: src/compose.ts | const feedLagMs = config.STORE_TIMEOUT_MS + CLOCK_SKEW_MS;
CompleteUntil(clock, lag, until) ==
  Max(0, Min(IF Has("lag") THEN clock - lag ELSE clock, IF Has("marks") THEN until ELSE clock))

\* What one round finds: the earliest of the clock, less the skew, and the marks of the living.
\* code: src/candidates/checkpoints.ts | this.#completeUntil = Math.min(now - this.#options.skewMs, ...live.map((each) => each.complete_until));
RoundUntil(clock, living) == Least({clock} \union living)
=============================================================================
