----------------------------- MODULE FeedTrace -----------------------------
(***************************************************************************)
(* Checks recorded traces of the real service against the rules of the     *)
(* feed. A recorder between the service and MongoDB writes each write and  *)
(* each page down, in the order in which MongoDB answered them. Each event *)
(* must be what FeedRules.tla says. For each trace this module prints      *)
(* <<number, 0>> if all of its events are, or <<number, event>> with the   *)
(* number of the first event that is not.                                  *)
(* feed-trace.ts makes the traces: times in milliseconds since a moment    *)
(* before the trace, candidates numbered in the order of their ids.        *)
(***************************************************************************)
EXTENDS FeedRules, TLC

CONSTANTS
  Traces,      \* A sequence of traces. Each is a sequence of events.
  Lag,         \* STORE_TIMEOUT_MS and the clock skew, in milliseconds.
  ClocksDiffer \* The clocks of the recorder and of a replica differ by less, in milliseconds.

VARIABLES
  trace,  \* Which trace.
  event,  \* The number of the next event of it.
  rows,   \* The store: the row of each candidate.
  found,  \* The latest time that any replica has found by the marks. Nothing may appear before it.
  mirror, \* What the reader has.
  cursor  \* The reader's cursor.

\* Written to a candidate: `before` is the version that the write names (0: an insert), `applied` what the store said.
\* The place may be any time that the rule permits for some clock. With the clock at the place's own time, the rule
\* returns that time, or a later one if the place does not come after the version before.
WriteAsSpecified(e) ==
  /\ e.applied = Applies(rows[e.c], e.before)
  /\ e.applied => /\ e.row.v = rows[e.c].v + 1
                  /\ e.row.at = NextTime(e.row.at, rows[e.c])
                  /\ rows[e.c].del => e.row.del
                  \* What a round finds is true: no write appears before that time any more.
                  /\ e.row.at + ClocksDiffer >= found

\* The page that the store gave, and the cursor that the reader was given for it.
\* The trace does not show how far the replica knew the feed to be complete. It is at most what the marks allow, and
\* the lag. The cursor must be right for one such time.
PageAsSpecified(e) ==
  LET page == [rows |-> e.rows, more |-> e.more]
      latest == CompleteUntil(e.now, Lag, found)
      times == {0, latest, e.to.safe \div Stride}
  IN /\ IsPage(rows, e.after, e.limit, page)
     \* The reader gets these rows from the API, no others and no other versions.
     /\ e.read => /\ e.got = [k \in 1..Len(e.rows) |-> <<e.rows[k].c, e.rows[k].v>>]
                  /\ e.gotMore = e.more
                  /\ e.from = cursor
                  /\ e.after = e.from.after
                  /\ \E until \in times : until <= latest /\ e.to = Advance(e.from, page, until)

\* When all is quiet, the reader has every row. If it went on for long enough, its cursor is past all of them.
EndAsSpecified(e) ==
  \A c \in DOMAIN rows : rows[c].v > 0 =>
    /\ mirror[c] = rows[c]
    /\ e.passed => Place(rows[c].at, c) <= cursor.safe

AsSpecified(e) ==
  CASE e.type = "write" -> WriteAsSpecified(e)
    [] e.type = "page" -> PageAsSpecified(e)
    [] e.type = "marks" -> TRUE
    [] e.type = "end" -> EndAsSpecified(e)

Init ==
  /\ trace \in 1..Len(Traces)
  /\ event = 1
  /\ rows = [c \in Candidates |-> Missing]
  /\ found = 0
  /\ mirror = [c \in Candidates |-> Missing]
  /\ cursor = [after |-> 0, safe |-> 0]

Given(e, c) == \E n \in 1..Len(e.rows) : e.rows[n].c = c

Step(e) ==
  /\ event' = event + 1
  /\ rows' = IF e.type = "write" /\ e.applied THEN [rows EXCEPT ![e.c] = e.row] ELSE rows
  /\ found' = IF e.type = "marks" THEN Max(found, RoundUntil(e.now, e.until)) ELSE found
  /\ IF e.type = "page" /\ e.read
     THEN /\ cursor' = e.to
          /\ mirror' = [c \in Candidates |-> IF Given(e, c) THEN rows[c] ELSE mirror[c]]
     ELSE UNCHANGED <<cursor, mirror>>
  /\ UNCHANGED trace

Next ==
  LET events == Traces[trace]
  IN \/ /\ event <= Len(events) /\ AsSpecified(events[event])
        /\ Step(events[event])
     \/ /\ event <= Len(events) /\ ~AsSpecified(events[event])
        /\ PrintT(<<trace, event>>)
        /\ event' = Len(events) + 2
        /\ UNCHANGED <<trace, rows, found, mirror, cursor>>
     \/ /\ event = Len(events) + 1
        /\ PrintT(<<trace, 0>>)
        /\ event' = event + 1
        /\ UNCHANGED <<trace, rows, found, mirror, cursor>>

Spec == Init /\ [][Next]_<<trace, event, rows, found, mirror, cursor>>
=============================================================================
