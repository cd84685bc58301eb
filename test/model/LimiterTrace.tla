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
ChargeOf(event) == NewCharge(event[2], event[3], event[4], event[5], event[6], event[7], event[8], event[9])
\* Redis's clock, from the script's answer.
NowOf(event) == event[10]
\* The other words of the script's answer.
AnswerOf(event) == SubSeq(event, 11, 14)
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
WordsOf(decision) == <<decision.verdict, decision.accountUsed, decision.keyUsed, decision.window>>

AfterCharge(event) ==
  LET decision == Decide(redis, ChargeOf(event), NowOf(event))
  IN IF event[11] = Lost THEN {redis, decision.redis} ELSE If(WordsOf(decision) = AnswerOf(event), decision.redis)

\* An event "draw" names the surface, the key, the cost, the deadline, Redis's clock, and the words of the answer.
DrawOf(event) == Draw(redis, event[2], event[3], event[4], event[5], event[6])
WordsOfDraw(draw) == <<draw.outcome, draw.grantRemaining, draw.grantAmount>>
AfterDraw(event) ==
  LET draw == DrawOf(event)
  IN IF event[7] = Lost THEN {redis, draw.redis} ELSE If(WordsOfDraw(draw) = SubSeq(event, 7, 9), draw.redis)

\* An event "list" names the surface, the key, and the grants.
GrantRows(event) ==
  {<<g.id, g.remaining, g.expires, g.amount>> : g \in ListedGrants(redis, event[2], event[3])}

\* An event "usage" has one row for each surface: surface, used by the account, used by the key. The refusal and the reset are
\* the same for all.
UsageOf(event, surface) == Usage(redis, surface, event[2], event[3], event[4], event[5])
UsageRow(event, row) ==
  LET usage == UsageOf(event, row[1])
  IN <<row[1], usage.account, usage.key>>
UsageRight(event) ==
  \A i \in 1..Len(event[8]) :
    LET row == event[8][i]
        usage == UsageOf(event, row[1])
    IN usage.refusal = event[6] /\ usage.reset = event[7] /\ UsageRow(event, row) = row

\* An event "version" names the version, the deadline, `over`, and the version that Redis knew then; 0 if the deadline had
\* passed, and -1 if the answer was lost. The answer does not say what Redis's clock showed.
\* code: lua/raise-version.lua | if deadline > 0 and now >= deadline then return 0 end
AfterVersion(event) ==
  LET after == RaiseVersion(redis, event[2], event[4])
  IN CASE event[5] = -1 -> {redis, after}
       [] event[5] = 0 -> If(event[3] > 0, redis)
       [] OTHER -> If(after.version = event[5], after)

\* An event "ledger": a test wrote a window (-1: none) and counts into the ledger, as they are after the clock stepped back.
\* Each count is a name and a number. What else was there stays.
AfterLedger(event) ==
  LET written == {event[3][i][1] : i \in 1..Len(event[3])}
      counts == [name \in written |-> (CHOOSE count \in {event[3][i] : i \in 1..Len(event[3])} : count[1] = name)[2]]
  IN {[redis EXCEPT !.ledger = [window |-> IF event[2] = NoWindow THEN @.window ELSE event[2], counts |-> counts @@ @.counts]]}

HasGrant(id, surface, key) == \E g \in redis.grants : g.id = id /\ g.surface = surface /\ g.key = key

\* What Redis may hold after the event that comes next.
After(event) ==
  CASE Kind(event) = "charge"  -> AfterCharge(event)
    [] Kind(event) = "draw"    -> AfterDraw(event)
    [] Kind(event) = "list"    -> If(GrantRows(event) = event[4], redis)
    [] Kind(event) = "usage"   -> If(UsageRight(event), redis)
    [] Kind(event) = "put"     -> IfDone(event, event[7], ~HasGrant(event[2], event[3], event[4]), PlaceGrant(redis, GrantOf(event)))
    [] Kind(event) = "fill"    -> IfDone(event, event[6], HasGrant(event[2], event[3], event[4]),
                                         FillGrant(redis, event[2], event[3], event[4], event[5]))
    [] Kind(event) = "remove"  -> IfDone(event, event[5], HasGrant(event[2], event[3], event[4]),
                                         RemoveGrant(redis, event[2], event[3], event[4]))
    [] Kind(event) = "version" -> AfterVersion(event)
    [] Kind(event) = "ledger"  -> AfterLedger(event)
    [] Kind(event) = "flush"   -> {EmptyRedis}

\* What the functions say instead, for the report about a refused trace.
Expected(event) ==
  CASE Kind(event) = "charge" -> WordsOf(Decide(redis, ChargeOf(event), NowOf(event)))
    [] Kind(event) = "draw"   -> WordsOfDraw(DrawOf(event))
    [] Kind(event) = "list"   -> GrantRows(event)
    [] Kind(event) = "usage"  -> LET usage == UsageOf(event, event[8][1][1])
                                 IN <<usage.refusal, usage.reset, [i \in 1..Len(event[8]) |-> UsageRow(event, event[8][i])]>>
    [] Kind(event) = "version" -> RaiseVersion(redis, event[2], event[4]).version
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
