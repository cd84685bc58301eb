------------------------------- MODULE Feed -------------------------------
(***************************************************************************)
(* The change feed: how writes get their places, and how readers follow.   *)
(*                                                                         *)
(* How to read this file, if you have never read TLA+:                     *)
(*  - The module describes a state (VARIABLES), the first state (Init) and *)
(*    every step that may follow (Next). TLC, the model checker, visits    *)
(*    every state that any order of steps can reach, and tests each        *)
(*    invariant there. It reports the shortest way to a violation.         *)
(*  - In a step, x is the value before it and x' the value after it.       *)
(*    A line "/\ x > 0" is a condition: the step is possible only then.    *)
(*    "/\" is "and", "\/" is "or", "\E r \in S" is "for some r of S",      *)
(*    "\A" is "for all". [f EXCEPT ![a] = b] is the function f with        *)
(*    another value b at a. "@" in it is the value before.                 *)
(*  - Nothing is urgent: each step may be taken late or never. So a        *)
(*    replica that takes no steps for some time is a replica that stands   *)
(*    still, and a message that never lands is one that was lost.          *)
(*                                                                         *)
(* What happens, in short. Several replicas write candidates to one store. *)
(* A write takes a place in the feed (a time and the candidate) when it    *)
(* begins, and becomes visible when the store applies it, which may be     *)
(* much later. A reader asks for pages in the order of the places. It must *)
(* never go past a place at which a row may still appear. Two things keep  *)
(* it back: the lag (the cursor stays behind the clock by the longest      *)
(* permitted write plus the clock skew), and the marks (each replica says  *)
(* up to which time all its writes are visible). A write that took too     *)
(* long, or whose outcome is unknown, is written again with a new place.   *)
(*                                                                         *)
(* "code:" lines name the line of the service that an operator mirrors:    *)
(* the file, a bar, and a piece of the line. A test checks that the file   *)
(* exists. The rules without a state, such as what a page holds, are in    *)
(* FeedRules.tla.                                                          *)
(***************************************************************************)
EXTENDS FeedRules

CONSTANTS
  Replicas,     \* The names of the processes. A restarted process has a new name.
  Running,      \* Those that run in the first state. The others may start later.
  Writers,      \* Those that clients send writes to.
  Unmarked,     \* Writers of an earlier version, which make no marks.
  Servers,      \* Those that the reader asks.
  Prompt,       \* Those that never stand still for longer than one unit of time while the store answers.
  LastWrite,    \* Clients send no write after this time. Later ones would only be shifted copies of earlier ones.
  Existing,     \* Candidates that are in the store in the first state.
  Writes,       \* How many writes clients ask for.
  Erasures,     \* TRUE if a client may also erase a candidate.
  MaxTime,      \* The clock stops here, so that the states are finite.
  MaxSkew,      \* How far apart two replicas' clocks may be.
  Ahead,        \* The replicas whose clocks are ahead, by MaxSkew.
  Leaps,        \* How often the clock of all processes leaps ahead. It may be put right at any time.
  LeapBy,       \* How far it leaps.
  Timeout,      \* How long a write may take (STORE_TIMEOUT_MS).
  Delivery,     \* A message lands within this time, counted while the store answers.
  SilentRounds, \* A mark that was not renewed for so many rounds is removed.
  Outage,       \* How long the store may stand still in all.
  Ends,         \* How many replicas may die or stop.
  Limit,        \* Rows of a page.
  Busy,         \* {}, or what the last page's has_more may be if other candidates change all the time: {FALSE}, {FALSE, TRUE}.
  Pauses,       \* TRUE if a replica may stand still between the place of a write and its sending.
  SlowPages     \* TRUE if other steps may come between the two halves of a page's answer.

\* The mark of a dead replica stays until none of its writes can land any more.
\* code: src/candidates/checkpoints.ts | const SILENT_ROUNDS = 140;
ASSUME SilentRounds > Delivery

VARIABLES
  now,       \* True time. No process knows it.
  served,    \* How much of that time the store was answering.
  answering, \* FALSE while the store stands still.
  status,    \* For each replica: "absent", "up", "dead" or "stopped".
  store,     \* For each candidate: its row. Version 0 means that it does not exist.
  net,       \* Writes on their way to the store.
  op,        \* For each replica and candidate: the write under way.
  unsettled, \* For each replica and candidate: the earliest place that needs a renewal.
  marks,     \* For each replica: its mark in the store.
  idle,      \* For each replica: how long ago it made its mark, in served time: 0, 1, or 2 for longer.
  fresh,     \* fresh[r][s]: s has made a mark since r last read the marks.
  silent,    \* silent[r][s]: rounds of r in which the mark of s was the same.
  complete,  \* For each replica: what its last round found. Nothing appears before then.
  reader,    \* One reader: its cursor, its mirror, and the page it is about to get.
  left,      \* What may still happen: writes, ends of replicas, time of outage, leaps of the clock.
  leap,      \* How far the clock of all processes is ahead of the true time.
  feed,      \* For each replica: the last time of its feed clock. Stays 0 if the clock never leaps.
  high       \* The high-water mark in the store. Stays 0 if the clock never leaps.

clocks == <<leap, feed, high>>
vars == <<now, served, answering, status, store, net, op, unsettled, marks, idle,
          fresh, silent, complete, reader, left, leap, feed, high>>

(***************************************************************************)
(* The first state.                                                        *)
(***************************************************************************)

NoOp == [phase |-> "none", before |-> 0, row |-> Missing, took |-> 0, copy |-> FALSE]
Settled == [at |-> -1, since |-> 0]
NoMark == -1
NotAsked == -1
NoPage == [rows |-> <<>>, more |-> TRUE]
Lag == Timeout + MaxSkew
ServiceClock(r) == (IF r \in Ahead THEN now + MaxSkew ELSE now) + leap
\* The feed clock. While the clock of the service is behind it, the code lets it go on at half the pace. Here it stands still.
\* code: src/candidates/feed-clock.ts | this.#last = time < this.#last ? slowed : time;
Clock(r) == IF Has("feed-clock-never-falls") THEN Max(feed[r], ServiceClock(r)) ELSE ServiceClock(r)
Up == {r \in Replicas : status[r] = "up"}
Marking == Writers \ Unmarked

Init ==
  /\ leap = 0 /\ feed = [r \in Replicas |-> 0] /\ high = 0
  /\ now = 1 /\ served = 1 /\ answering = TRUE
  /\ status = [r \in Replicas |-> IF r \in Running THEN "up" ELSE "absent"]
  /\ store = [c \in Candidates |-> IF c \in Existing THEN [v |-> 1, at |-> 0, del |-> FALSE] ELSE Missing]
  /\ net = {}
  /\ op = [r \in Replicas |-> [c \in Candidates |-> NoOp]]
  /\ unsettled = [r \in Replicas |-> [c \in Candidates |-> Settled]]
  /\ marks = [r \in Replicas |-> IF r \in Running \intersect Marking THEN Clock(r) ELSE NoMark]
  /\ idle = [r \in Replicas |-> 0]
  /\ fresh = [r \in Replicas |-> [s \in Replicas |-> TRUE]]
  /\ silent = [r \in Replicas |-> [s \in Replicas |-> 0]]
  /\ complete = [r \in Replicas |-> 0]
  /\ reader = [after |-> 0, safe |-> 0, until |-> NotAsked, page |-> NoPage, swept |-> FALSE, begun |-> FALSE,
               mirror |-> [c \in Candidates |-> Missing]]
  /\ left = [writes |-> Writes, ends |-> Ends, outage |-> Outage, leaps |-> Leaps]

(***************************************************************************)
(* Time, and the store that stands still.                                  *)
(***************************************************************************)

\* A message that has travelled for so long is lost: its connection has been given up.
Lands(m, at) == at - m.sent < Delivery

Tick ==
  /\ now < MaxTime
  /\ answering \/ left.outage > 0
  /\ answering => \A r \in Prompt : status[r] = "up" => idle[r] = 0
  /\ now' = now + 1
  /\ served' = IF answering THEN served + 1 ELSE served
  /\ net' = {m \in net : Lands(m, served')}
  /\ left' = IF answering THEN left ELSE [left EXCEPT !.outage = @ - 1]
  /\ idle' = [r \in Replicas |-> IF answering /\ status[r] = "up" THEN Min(2, idle[r] + 1) ELSE idle[r]]
  /\ UNCHANGED <<answering, status, store, op, unsettled, marks, fresh, silent, complete, reader>>

StandStill ==
  /\ answering /\ left.outage > 0
  /\ answering' = FALSE
  /\ UNCHANGED <<now, served, status, store, net, op, unsettled, marks, idle, fresh, silent, complete,
                 reader, left>>

GoOn ==
  /\ ~answering
  /\ answering' = TRUE
  /\ UNCHANGED <<now, served, status, store, net, op, unsettled, marks, idle, fresh, silent, complete,
                 reader, left>>

(***************************************************************************)
(* The clock that leaps ahead and is put right. It is that of all          *)
(* processes: a clock that leaps alone is not followed.                    *)
(* code: src/infra/clock-watch.ts | const step = clock.set(right);         *)
(***************************************************************************)

SetClock(by) ==
  /\ leap' = by
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent, complete,
                 reader, feed, high>>

Leap == left.leaps > 0 /\ left' = [left EXCEPT !.leaps = @ - 1] /\ SetClock(LeapBy)
PutRight == leap > 0 /\ UNCHANGED left /\ SetClock(0)

\* A replica remembers the time that it has read. If the clock never leaps, that is never needed.
ReadClock(r) == feed' = IF Leaps = 0 THEN feed ELSE [feed EXCEPT ![r] = Clock(r)]

\* A replica raises the high-water mark to its feed clock, and its feed clock to the mark.
\* code: src/candidates/checkpoints.ts | this.#options.clock.raise(await this.#options.store.raise(now));
RaiseClock(r) ==
  IF Leaps > 0 /\ Has("high-water")
  THEN high' = Max(high, Clock(r)) /\ feed' = [feed EXCEPT ![r] = high']
  ELSE high' = high /\ ReadClock(r)

(***************************************************************************)
(* Writes.                                                                 *)
(***************************************************************************)

\* The row that a write makes. A tombstone has a version and a place as every row has.
\* code: src/candidates/version.ts | version: before.version + 1,
\* code: src/candidates/version.ts | return { ...edited, version: before.version + 1, updated_at: timestamp(position.at) };
NewRow(r, c, kind) ==
  LET before == store[c]
      time == NextTime(Clock(r), before)
      version == IF kind = "copy" /\ ~Has("renewal-raises-version") THEN before.v ELSE before.v + 1
  IN IF kind = "erase" /\ ~Has("tombstone") THEN Missing
     ELSE IF kind = "erase" /\ ~Has("tombstone-has-place") THEN [v |-> version, at |-> before.at, del |-> TRUE]
     ELSE [v |-> version, at |-> time, del |-> before.del \/ kind = "erase"]

\* A write reads the candidate and takes its place. Each replica has one write for each candidate at a time (KeyedQueue).
\* Inserts and the write of expiries do not wait in that queue. Here they do.
\* "change" is also the insert, if there is no candidate. "copy" is the renewal of a write that is not settled.
\* code: src/candidates/store.ts | return this.#queue.run(`${key.accountId} ${key.id}`, () => this.#update(key, edit, known));
\* code: src/candidates/writes-in-flight.ts | this.#underWay.add(position);
Take(r, c, kind) ==
  /\ status[r] = "up" /\ op[r][c] = NoOp
  /\ answering \/ store[c].v = 0
  /\ r \in Writers /\ (kind # "copy" => now <= LastWrite)
  /\ CASE kind = "change" -> left.writes > 0 /\ ~store[c].del
       [] kind = "erase" -> Erasures /\ left.writes > 0 /\ store[c].v > 0 /\ ~store[c].del
       [] kind = "copy" -> Has("renewal") /\ unsettled[r][c] # Settled /\ store[c].v > 0
  /\ LET row == NewRow(r, c, kind)
     IN /\ op' = [op EXCEPT ![r][c] = [phase |-> IF Pauses THEN "taken" ELSE "sent", before |-> store[c].v, row |-> row,
                                       took |-> now, copy |-> kind = "copy"]]
        /\ net' = IF Pauses THEN net
                  ELSE net \union {[r |-> r, c |-> c, before |-> store[c].v, row |-> row, took |-> now, sent |-> served]}
  /\ left' = IF kind = "copy" THEN left ELSE [left EXCEPT !.writes = @ - 1]
  /\ ReadClock(r)
  /\ UNCHANGED <<now, served, answering, status, store, unsettled, marks, idle, fresh, silent, complete, reader, leap,
                 high>>

\* Only a pause makes this a step of its own.
Send(r, c) ==
  /\ status[r] = "up" /\ op[r][c].phase = "taken"
  /\ op' = [op EXCEPT ![r][c].phase = "sent"]
  /\ net' = net \union {[r |-> r, c |-> c, before |-> op[r][c].before, row |-> op[r][c].row,
                         took |-> op[r][c].took, sent |-> served]}
  /\ UNCHANGED <<now, served, answering, status, store, unsettled, marks, idle, fresh, silent, complete, reader,
                 left>>

\* The store makes the write, or finds that it does not apply.
\* code: src/candidates/store.ts | return insertedCount + matchedCount;
Land(m) ==
  /\ answering /\ Lands(m, served)
  /\ LET applies == Applies(store[m.c], m.before)
         waiting == op[m.r][m.c].phase = "sent" /\ op[m.r][m.c].took = m.took
     IN /\ store' = IF applies THEN [store EXCEPT ![m.c] = m.row] ELSE store
        /\ op' = IF waiting THEN [op EXCEPT ![m.r][m.c].phase = IF applies THEN "made" ELSE "missed"] ELSE op
  /\ net' = net \ {m}
  /\ UNCHANGED <<now, served, answering, status, unsettled, marks, idle, fresh, silent, complete, reader, left>>

\* Adds a write to those that are to be settled. The earlier place stays.
\* code: src/candidates/writes-in-flight.ts | const first = earlier !== undefined && earlier.position.at <= position.at ? earlier.position : position;
SettleLater(r, c, time) ==
  [unsettled EXCEPT ![r][c] = [at |-> IF @ = Settled THEN time ELSE Min(@.at, time), since |-> served]]

\* The answer arrives. A write that took too long is written again with a new place.
\* The service writes it again at once, and adds it to the unsettled writes if that fails. Here it is always added.
\* code: src/candidates/store.ts | if (!this.#mongo.isLate(position.reservedAt)) return written;
\* code: src/infra/mongo.ts | isLate: (began) => performance.now() - began > timeoutMs,
\* code: src/candidates/store.ts | return await this.#update(written, copy);
Reply(r, c) ==
  LET this == op[r][c]
      late == now - this.took > Timeout
      settles == this.copy /\ (this.phase = "made" \/ this.row.del)
  IN /\ status[r] = "up" /\ this.phase \in {"made", "missed"}
     /\ op' = [op EXCEPT ![r][c] = NoOp]
     /\ unsettled' = IF this.phase = "made" /\ late /\ Has("late-writes-again") THEN SettleLater(r, c, this.row.at)
                     ELSE IF settles THEN [unsettled EXCEPT ![r][c] = Settled]
                     ELSE unsettled
     /\ UNCHANGED <<now, served, answering, status, store, net, marks, idle, fresh, silent, complete, reader,
                    left>>

\* No answer in time, or it was lost. The write may have been made, and may still be made.
\* An error that comes sooner is not modelled: the look for it begins sooner, but still after the sending.
\* code: src/candidates/writes-in-flight.ts | if (!isRefused(error)) for (const candidate of candidates) this.settleLater(candidate, position);
GiveUpWaiting(r, c) ==
  /\ status[r] = "up" /\ op[r][c].phase \in {"sent", "made", "missed"}
  /\ now - op[r][c].took >= Timeout
  /\ op' = [op EXCEPT ![r][c] = NoOp]
  /\ unsettled' = IF Has("unsettled-writes") THEN SettleLater(r, c, op[r][c].row.at) ELSE unsettled
  /\ UNCHANGED <<now, served, answering, status, store, net, marks, idle, fresh, silent, complete, reader, left>>

\* A candidate that is missing after this time was never sent, and cannot land any more. Without renewals each
\* unsettled write is dropped at the first look.
\* code: src/candidates/writes-in-flight.ts | if (renewed || write.wait > MAX_WAIT_MS) this.#unsettled.delete(write.id);
GiveUpLooking(r, c) ==
  /\ status[r] = "up" /\ answering /\ unsettled[r][c] # Settled
  /\ \/ store[c].v = 0 /\ op[r][c] = NoOp /\ (Has("look-again") => served - unsettled[r][c].since >= Delivery)
     \/ ~Has("renewal")
  /\ unsettled' = [unsettled EXCEPT ![r][c] = Settled]
  /\ UNCHANGED <<now, served, answering, status, store, net, op, marks, idle, fresh, silent, complete, reader,
                 left>>

(***************************************************************************)
(* Marks.                                                                  *)
(***************************************************************************)

\* The earliest place that this replica still answers for, or its clock.
\* code: src/candidates/writes-in-flight.ts | for (const { at } of this.#underWay) earliest = Math.min(earliest, at);
\* code: src/candidates/writes-in-flight.ts | for (const { position } of this.#unsettled.values()) earliest = Math.min(earliest, position.at);
Earliest(r) ==
  LET underWay == {c \in Candidates : op[r][c] # NoOp /\ (op[r][c].phase = "taken" => Has("registered-when-taken"))}
      open == {c \in Candidates : unsettled[r][c] # Settled}
  IN Least({Clock(r)}
           \union (IF Has("open-writes-in-mark") THEN {op[r][c].row.at : c \in underWay} ELSE {})
           \union (IF Has("unsettled-in-mark") THEN {unsettled[r][c].at : c \in open} ELSE {}))

\* One round: the replica renews its mark, reads the others, and removes those of the dead. Both happen in one step,
\* because other steps in between could only make what it reads newer. To keep the states few, a replica that is sent
\* no writes makes no mark (it would be its clock), and one that no reader asks does not read the others' marks.
\* code: src/candidates/checkpoints.ts | const complete_until = this.#options.inFlight.earliest(now);
\* code: src/candidates/checkpoints.ts | return { ...checkpoint, silent: before?.round === checkpoint.round ? before.silent + 1 : 0 };
\* code: src/candidates/checkpoints.ts | const isDead = ({ silent }: Known) => silent >= this.#options.silentRounds;
\* code: src/candidates/checkpoints.ts | await Promise.all(known.filter(isDead).map((each) => this.#options.store.remove(each)));
MakeRound(r) ==
  LET mine == IF r \in Marking THEN [marks EXCEPT ![r] = Earliest(r)] ELSE marks
      quiet == [s \in Replicas |-> IF s = r \/ fresh[r][s] \/ mine[s] = NoMark THEN 0 ELSE silent[r][s] + 1]
      rounds == IF Has("silent-rounds") THEN SilentRounds ELSE 1
      dead == {s \in Replicas : mine[s] # NoMark /\ quiet[s] >= rounds}
      living == {s \in Replicas : mine[s] # NoMark} \ dead
      \* A replica that starts later has no mark yet. Its clock, and so its places, may be behind this one's by the skew.
      skew == IF Has("round-allows-for-skew") THEN MaxSkew ELSE 0
  IN /\ answering
     /\ RaiseClock(r)
     /\ idle' = [idle EXCEPT ![r] = 0]
     /\ IF r \in Servers
        THEN /\ marks' = [s \in Replicas |-> IF s \in dead THEN NoMark ELSE mine[s]]
             /\ silent' = [silent EXCEPT ![r] = [s \in Replicas |-> IF s \in dead THEN 0 ELSE quiet[s]]]
             /\ complete' = [complete EXCEPT ![r] = RoundUntil(Max(0, Clock(r) - skew), {mine[s] : s \in living})]
        ELSE marks' = mine /\ UNCHANGED <<silent, complete>>
     /\ fresh' = [q \in Replicas |-> [s \in Replicas |->
                   CASE q = r -> s = r \/ marks'[s] = NoMark
                     [] q \in Servers /\ q # r /\ s = r /\ r \in Marking -> TRUE
                     [] OTHER -> fresh[q][s]]]

Round(r) ==
  /\ status[r] = "up" /\ idle[r] > 0
  /\ MakeRound(r)
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, reader, left, leap>>

\* The fault of a mutant: a round that the store did not answer counts as silence of the others.
\* code: src/candidates/checkpoints.ts | const known = (await this.#options.store.all()).map((checkpoint): Known => {
UnansweredRound(r) ==
  /\ ~Has("answered-rounds") /\ status[r] = "up" /\ ~answering
  /\ \E s \in Replicas \ {r} : marks[s] # NoMark /\ silent[r][s] < SilentRounds
  /\ silent' = [silent EXCEPT ![r] = [s \in Replicas |-> IF s = r \/ marks[s] = NoMark THEN 0 ELSE Min(SilentRounds, @[s] + 1)]]
  /\ fresh' = [fresh EXCEPT ![r] = [s \in Replicas |-> marks[s] = NoMark]]
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, complete, reader, left>>

(***************************************************************************)
(* Replicas that start, stop and die.                                      *)
(***************************************************************************)

\* code: src/compose.ts | await checkpoints.start();
Start(r) ==
  /\ Leaps = 0 /\ status[r] = "absent" /\ answering
  /\ status' = [status EXCEPT ![r] = "up"]
  /\ IF Has("first-mark") THEN MakeRound(r) ELSE UNCHANGED <<marks, idle, fresh, silent, complete, feed, high>>
  /\ UNCHANGED <<now, served, answering, store, net, op, unsettled, reader, left, leap>>

\* If the clock may leap, other steps may come between the first mark and the high-water mark. The replica is a writer
\* that no reader asks.
PutFirstMark(r) ==
  /\ marks' = [marks EXCEPT ![r] = Clock(r)]
  /\ fresh' = [q \in Replicas |-> [s \in Replicas |-> fresh[q][s] \/ (q \in Servers /\ s = r)]]

StartHalf(r, from, to, putsMark) ==
  /\ Leaps > 0 /\ r \notin Servers /\ status[r] = from /\ answering
  /\ status' = [status EXCEPT ![r] = to]
  /\ IF putsMark THEN PutFirstMark(r) /\ ReadClock(r) /\ UNCHANGED high
     ELSE RaiseClock(r) /\ UNCHANGED <<marks, fresh>>
  /\ UNCHANGED <<now, served, answering, store, net, op, unsettled, idle, silent, complete, reader, left, leap>>

StartInTwo(r) ==
  \/ StartHalf(r, "absent", "starting", Has("mark-before-high-water"))
  \/ StartHalf(r, "starting", "up", ~Has("mark-before-high-water"))

Gone(r, how) ==
  /\ status[r] = "up" /\ left.ends > 0
  /\ status' = [status EXCEPT ![r] = how]
  /\ left' = [left EXCEPT !.ends = @ - 1]
  /\ op' = [op EXCEPT ![r] = [c \in Candidates |-> NoOp]]
  /\ unsettled' = [unsettled EXCEPT ![r] = [c \in Candidates |-> Settled]]
  \* Nobody asks for these any more. One value for all keeps the states few.
  /\ idle' = [idle EXCEPT ![r] = 0]
  /\ fresh' = [fresh EXCEPT ![r] = [s \in Replicas |-> TRUE]]
  /\ silent' = [silent EXCEPT ![r] = [s \in Replicas |-> 0]]
  /\ complete' = [complete EXCEPT ![r] = 0]
  /\ UNCHANGED <<now, served, answering, store, net, reader>>

\* A replica dies, with SIGKILL for example. What it has sent may still land.
\* The assumption is that it has no open write by then whose place is older than the silent rounds. A replica that stood
\* still for two minutes, went on, sent what it had in hand and died before it could write it again, is outside of it
\* (see README.md).
Die(r) ==
  /\ (Has("dies-without-old-writes") /\ Pauses) => \A c \in Candidates :
       /\ op[r][c] # NoOp => now - op[r][c].took < SilentRounds
       /\ unsettled[r][c] # Settled => now - unsettled[r][c].at < SilentRounds
  /\ Gone(r, "dead")
  /\ UNCHANGED marks

\* A replica stops in order, and takes its mark back once it knows the outcome of each write.
\* If it does not learn that in time, it leaves its mark: that is the same as Die.
\* code: src/candidates/checkpoints.ts | if (settled) await this.#options.store.remove({ _id: this.#options.writer }).catch(() => undefined);
Stop(r) ==
  /\ answering
  /\ Has("stop-waits") => \A c \in Candidates : op[r][c] = NoOp /\ unsettled[r][c] = Settled
  /\ Gone(r, "stopped")
  /\ marks' = [marks EXCEPT ![r] = NoMark]

(***************************************************************************)
(* The reader. It may ask another replica for each page.                   *)
(***************************************************************************)

\* Nothing is left to do but to read.
Quiet ==
  /\ left.writes = 0
  /\ net = {}
  /\ \A r \in Replicas : op[r] = [c \in Candidates |-> NoOp] /\ unsettled[r] = [c \in Candidates |-> Settled]

\* The reader stores each row of the page as it is, and the cursor.
Received(page, until) ==
  LET cursor == Advance([after |-> reader.after, safe |-> reader.safe], page, until)
      given == {page.rows[n].c : n \in 1..Len(page.rows)}
      \* A sweep is a way through the feed from `safe` to the end. It counts if it began when all was quiet.
      begun == IF reader.after = reader.safe THEN Quiet ELSE reader.begun /\ Quiet
  IN [after |-> cursor.after, safe |-> cursor.safe, until |-> NotAsked, page |-> NoPage,
      begun |-> begun, swept |-> reader.swept \/ (begun /\ ~page.more),
      mirror |-> [c \in Candidates |-> IF c \in given THEN store[c] ELSE reader.mirror[c]]]

\* The pages that the reader may get from the store now. If other candidates change all the time, a page ends with a row
\* of one of them, whose place is as late as a clock can be. That row is candidate 0, which the mirror leaves out.
Pages ==
  LET page == Page(store, reader.after, Limit)
      latest == CHOOSE t \in {Clock(r) : r \in Replicas} : \A r \in Replicas : Clock(r) <= t
      other == [c |-> 0, v |-> 1, at |-> latest, del |-> FALSE]
  IN IF Busy = {} \/ page.more THEN {page} ELSE {[rows |-> Append(page.rows, other), more |-> more] : more \in Busy}

\* A page that does not move the cursor matters only at the end: it makes the mirror newer, and skips nothing.
\* Leaving such pages out keeps the states few.
Moves(page, until) ==
  \/ Quiet
  \/ reader.after # reader.safe
  \/ Advance([after |-> reader.after, safe |-> reader.safe], page, until).safe > reader.safe

\* A replica looks how far the feed is complete, and then reads the page.
\* code: src/candidates/service.ts | const page = await store.reader.feed(query);
ReadAtOnce(r) ==
  /\ Has("until-before-page") /\ ~SlowPages /\ answering /\ status[r] = "up" /\ r \in Servers
  /\ LET until == CompleteUntil(Clock(r), Lag, complete[r])
     IN \E page \in Pages : Moves(page, until) /\ reader' = Received(page, until)
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent, complete, left>>

\* The same in two steps.
Ask(r) ==
  /\ Has("until-before-page") /\ SlowPages /\ status[r] = "up" /\ r \in Servers /\ reader.until = NotAsked
  /\ reader' = [reader EXCEPT !.until = CompleteUntil(Clock(r), Lag, complete[r])]
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent, complete, left>>

Read ==
  /\ answering /\ reader.until # NotAsked
  /\ \E page \in Pages : reader' = Received(page, reader.until)
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent, complete, left>>

\* The fault of a mutant: the page first, and then how far the feed is complete. The mirror takes the page as it was.
ReadFirst ==
  /\ ~Has("until-before-page") /\ answering /\ reader.page = NoPage
  /\ \E page \in Pages : reader' = [reader EXCEPT !.page = page]
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent,
                 complete, left>>

AskAfterwards(r) ==
  /\ ~Has("until-before-page") /\ status[r] = "up" /\ reader.page # NoPage
  /\ reader' = [Received(reader.page, CompleteUntil(Clock(r), Lag, complete[r])) EXCEPT
       !.mirror = [c \in Candidates |->
         IF \E n \in 1..Len(reader.page.rows) : reader.page.rows[n].c = c
         THEN LET n == CHOOSE n \in 1..Len(reader.page.rows) : reader.page.rows[n].c = c
              IN [v |-> reader.page.rows[n].v, at |-> reader.page.rows[n].at, del |-> reader.page.rows[n].del]
         ELSE reader.mirror[c]],
       !.swept = FALSE, !.begun = FALSE]
  /\ UNCHANGED <<now, served, answering, status, store, net, op, unsettled, marks, idle, fresh, silent,
                 complete, left>>

(***************************************************************************)
(* All steps.                                                              *)
(***************************************************************************)

OtherStep ==
  \/ Tick \/ StandStill \/ GoOn \/ Read \/ ReadFirst
  \/ \E m \in net : Land(m)
  \/ \E r \in Replicas :
       \/ UnansweredRound(r) \/ Die(r) \/ Stop(r) \/ ReadAtOnce(r) \/ Ask(r) \/ AskAfterwards(r)
       \/ \E c \in Candidates : Send(r, c) \/ Reply(r, c) \/ GiveUpWaiting(r, c) \/ GiveUpLooking(r, c)

Next ==
  \/ Leap \/ PutRight
  \/ \E r \in Replicas :
       \/ Round(r) \/ Start(r) \/ StartInTwo(r)
       \/ \E c \in Candidates, kind \in {"change", "erase", "copy"} : Take(r, c, kind)
  \/ OtherStep /\ UNCHANGED clocks

Spec == Init /\ [][Next]_vars

(***************************************************************************)
(* What must hold.                                                         *)
(***************************************************************************)

\* A replica that is up will give this row a new place: it is unsettled, or the answer that says so is under way.
WillBeRenewed(c) ==
  \E r \in Up : \/ unsettled[r][c] # Settled
                \/ op[r][c].phase = "made" /\ op[r][c].row = store[c] /\ now - op[r][c].took > Timeout

\* A reader has every row at or before `safe`, or the row will come again with a later place.
NothingIsSkipped ==
  \A c \in Candidates :
    (store[c].v > 0 /\ Place(store[c].at, c) <= reader.safe /\ reader.mirror[c] # store[c]) => WillBeRenewed(c)

\* Once writes have ended, a reader that follows the cursor to the end has every candidate's last version.
FollowerHasAll == (Quiet /\ reader.swept) => reader.mirror = store

\* The two ways to say what a page is agree. The traces are checked with the second one.
PagesAgree == IsPage(store, reader.after, Limit, Page(store, reader.after, Limit))

\* A mark is true: no write of its replica can still be made at a place before it.
MarksAreTrue ==
  \A m \in net :
    (marks[m.r] # NoMark /\ Lands(m, served) /\ Applies(store[m.c], m.before)) => m.row.at >= marks[m.r]

\* Each write of a candidate has a later version and a later place than the one before.
EachWriteIsLater ==
  [][\A c \in Candidates :
       (store[c].v > 0 /\ store'[c] # store[c]) => (store'[c].v > store[c].v /\ store'[c].at > store[c].at)]_vars

\* An erased candidate stays erased, in the store and in the mirror.
ErasedStaysErased ==
  [][\A c \in Candidates : /\ (store[c].del => store'[c].del)
                           /\ (reader.mirror[c].del => reader'.mirror[c].del)]_vars

(***************************************************************************)
(* What this module does not cover:                                        *)
(*  - A replica that stands still for longer than the silent rounds, goes  *)
(*    on, sends a write that has an old place, and dies before it can      *)
(*    renew it. Its mark is gone by then, so a reader may skip that write. *)
(*    The run "without: dies-without-old-writes" shows how. Only a         *)
(*    store that checks the mark with each write could prevent it.         *)
(*  - A write that is missing when it is looked for the last time, because *)
(*    the store stands still before it and between two looks. The service  *)
(*    counts those waits by the clock, the module by served time.          *)
(*  - updated_since, which has the lag but not the marks; the filters      *)
(*    state and external_id; pages that are cut by their bytes, or whose   *)
(*    rows change while they are rendered.                                 *)
(*  - Changes that start from a record in memory (RecentRecords): they     *)
(*    are the lost races of the compare-and-set here. Bulk writes of the   *)
(*    expiry sweep: one place for many candidates. References' look-ups.   *)
(*  - What the service does between the two attempts of a late write: for  *)
(*    a moment it is neither under way nor unsettled there. Here it is     *)
(*    unsettled at once (Reply). A sweep of a stopping replica may also    *)
(*    take a place after the replica found all writes settled. Here it     *)
(*    takes none (Stop).                                                   *)
(*  - That unsettled writes do end: FollowerHasAll speaks only of states   *)
(*    in which they have (Quiet).                                          *)
(*  - Marks that are written late, or that land after their replica        *)
(*    stopped: they only hold readers back. Clocks that step back.         *)
(*  - An election that takes an acknowledged write back: the service asks  *)
(*    for majority writes and reads, so MongoDB promises that.             *)
(***************************************************************************)

(***************************************************************************)
(* What the runs must reach, so that the invariants do not hold for want   *)
(* of cases. Each of these is expected to be violated.                     *)
(***************************************************************************)

\* A write lands at a place that the reader has passed, and is waiting for its renewal.
NeverLandsBehindTheReader ==
  \A c \in Candidates : ~(store[c].v > 0 /\ Place(store[c].at, c) <= reader.safe /\ reader.mirror[c] # store[c])

\* A write of a dead replica can still land, and so late that the lag alone would have let a reader pass its place.
NeverLandsAfterDeath ==
  \A m \in net : ~(/\ status[m.r] = "dead" /\ answering /\ Lands(m, served) /\ Applies(store[m.c], m.before)
                   /\ \E r \in Up \intersect Servers : CompleteUntil(Clock(r), Lag, now) > m.row.at)

\* The mark of a dead replica is removed.
NeverForgetsTheDead == \A r \in Writers : ~(status[r] = "dead" /\ marks[r] = NoMark)

\* The reader has a tombstone at the end, and all is quiet.
NeverMirrorsATombstone == ~(Quiet /\ reader.swept /\ \E c \in Candidates : reader.mirror[c].del)

\* A reader between two pages: `safe` is behind `after`.
NeverBetweenPages == reader.safe = reader.after

\* A candidate that was renewed twice.
NeverRenewed == \A c \in Candidates : store[c].v <= 1 + Writes
=============================================================================
