---------------------------- MODULE LimiterTrace ----------------------------
(* Compares what the real scripts answered with what LimiterScript.tla says that they answer.

   A trace is a list of events: what was done to the keys of one account in one Redis, in the order in which Redis did it,
   with the answers. It is recorded by test/model/redis-recorder.ts, and written as a module by test/model/limiter-module.ts.
   The trace begins with an empty Redis. At each event this module computes from what Redis holds (the variable "redis") the
   answer of LimiterScript.tla. If the recorded answer is the same, it takes the step: "redis" becomes what the function says
   that Redis holds then. If it is another, there is no step, and the trace is refused at this event.

   Init and Next say which states there are: Init describes the first state of a trace, Next a step. A name with a prime,
   such as position', is the value after the step. *)
EXTENDS LimiterScript, Sequences

CONSTANT Traces  \* all traces of this run: a list of lists of events

VARIABLES
  trace,     \* the number of the trace that is checked. TLC checks them all, one beside the other.
  position,  \* the number of the event that comes next
  redis      \* what Redis holds of the account

variables == <<trace, position, redis>>

(* An event is a list. Its first member says what was done. These functions name the other members. Surfaces, keys and grants
   are numbers. Times are milliseconds since a common beginning. *)
Kind(event) == event[1]
ChargeOf(event) ==
  NewCharge(event[2], event[3], event[4], event[5], event[6], event[7], event[8], event[9])
\* Redis's clock, from the script's answer.
NowOf(event) == event[10]
\* The other words of the script's answer.
AnswerOf(event) == SubSeq(event, 11, 16)
GrantOf(event) ==
  [id |-> event[2], surface |-> event[3], key |-> event[4], remaining |-> event[5], amount |-> event[5], expires |-> event[6]]

\* The connection broke before the answer came. What was asked may have been done or not.
Lost == "lost"

\* What Redis may hold after the event: one state if the recorded answer is the right one, else none.
If(right, after) == IF right THEN {after} ELSE {}
\* The same for an event whose answer may be lost. It is TRUE, FALSE, or Lost, and must equal `right`.
IfDone(event, answer, right, after) ==
  IF answer = Lost THEN {redis, after} ELSE If((answer = "yes") = right, after)

\* The answer to a charge, in the order of the event.
WordsOf(decision) ==
  << decision.verdict, decision.accountRemaining, decision.keyRemaining, decision.reset, decision.grantRemaining,
     decision.grantAmount >>

AfterCharge(event) ==
  LET decision == Decide(redis, ChargeOf(event), NowOf(event))
  IN IF event[11] = Lost THEN {redis, decision.redis} ELSE If(WordsOf(decision) = AnswerOf(event), decision.redis)

\* An event "usage" has one row for each surface: surface, used by the account, used by the key, reset, grants.
UsageRow(event, row) ==
  LET usage == Usage(redis, row[1], event[2], event[3], event[4], event[5])
      grants == {<<g.id, g.remaining, g.expires, g.amount>> : g \in usage.grants}
  IN <<row[1], usage.account, usage.key, usage.reset, grants>>
UsageRight(event) ==
  /\ KeyRefusal(redis, event[2], event[3], event[4], event[5]) = event[6]
  /\ \A i \in 1..Len(event[7]) : UsageRow(event, event[7][i]) = event[7][i]

HasGrant(id, surface, key) == \E g \in redis.grants : g.id = id /\ g.surface = surface /\ g.key = key

\* What Redis may hold after the event that comes next.
After(event) ==
  CASE Kind(event) = "charge"  -> AfterCharge(event)
    [] Kind(event) = "usage"   -> If(UsageRight(event), redis)
    [] Kind(event) = "put"     -> IfDone(event, event[7], ~HasGrant(event[2], event[3], event[4]), PlaceGrant(redis, GrantOf(event)))
    [] Kind(event) = "fill"    -> IfDone(event, event[6], HasGrant(event[2], event[3], event[4]),
                                         FillGrant(redis, event[2], event[3], event[4], event[5]))
    [] Kind(event) = "remove"  -> IfDone(event, event[5], HasGrant(event[2], event[3], event[4]),
                                         RemoveGrant(redis, event[2], event[3], event[4]))
    [] Kind(event) = "mark"    -> IfDone(event, event[4], MarkKey(redis, event[2], event[3]).markers = event[2] :> event[3] @@ redis.markers,
                                         MarkKey(redis, event[2], event[3]))
    [] Kind(event) = "status"  -> IfDone(event, event[4], event[3] >= redis.statusOf,
                                         MarkAccount(redis, event[2] = "suspended", event[3]))
    [] Kind(event) = "flush"   -> {EmptyRedis}
    \* A test put a counter of that window there, as it is after the clock stepped back.
    [] Kind(event) = "counter" -> {[redis EXCEPT !.counters = event[2] :> [window |-> event[3], used |-> event[4]] @@ @]}

\* What the functions say instead, for the report about a refused trace.
Expected(event) ==
  CASE Kind(event) = "charge" -> WordsOf(Decide(redis, ChargeOf(event), NowOf(event)))
    [] Kind(event) = "usage"  -> << KeyRefusal(redis, event[2], event[3], event[4], event[5]),
                                    [i \in 1..Len(event[7]) |-> UsageRow(event, event[7][i])] >>
    [] OTHER -> "the other answer"

Report(word, rest) == PrintT(word \o " " \o ToString(trace) \o " " \o ToString(position) \o rest)

Init ==
  /\ trace \in 1..Len(Traces)
  /\ position = 1
  /\ redis = EmptyRedis

Next ==
  /\ position <= Len(Traces[trace])
  /\ LET event == Traces[trace][position]
         after == After(event)
     IN /\ after = {} => Report("refused", " " \o ToString(Expected(event)))
        /\ redis' \in after
  /\ position' = position + 1
  /\ position = Len(Traces[trace]) => Report("accepted", "")
  /\ UNCHANGED trace

Spec == Init /\ [][Next]_variables
=============================================================================
