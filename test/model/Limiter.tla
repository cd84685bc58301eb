------------------------------- MODULE Limiter -------------------------------
(* The limiter as a system: clients, replicas of the service, Redis with a replica behind it, the store, and an operator.

   For a reader who has never read TLA+:

   A STATE is a snapshot of the whole system: one value for every variable below. TLC, the checker, begins in the initial
   state (Init) and computes every state that any order of steps can reach. It covers all of them, not a sample, so it
   finds the races that a test meets once in a million runs. To make that possible, the numbers are small: two keys, a
   limit of two, four requests, a clock of six ticks. Experience says that races need no more.

   An ACTION describes one kind of step, for instance "Redis runs a charge". It is a formula about two states: x is the
   value of a variable before the step, x' ("x prime") its value after it. The formula has two parts:
     - conditions on the state before the step. They say when the step is possible.
     - equations for the state after the step, such as now' = now + 1. UNCHANGED <<x, y>> says that x and y stay as they are.
   [f EXCEPT ![k] = v] is the map f with the value v at k. In it, @ stands for the old value at k.
   Next lists all actions. In every state TLC tries each of them, with every choice of its parameters: \E q \in Requests
   means "for any one of the requests". One action is one atomic step. All else happens in between, in any order. Only what
   really is atomic is one action here: a script in Redis, one write in the store, one turn of a replica's event loop.

   An INVARIANT is a formula that must be true in every state that can be reached. Each promise of src/docs/limiter.md is
   an invariant at the end of this module. If one is false in some state, TLC prints the steps that lead there: a
   COUNTEREXAMPLE, the shortest one.

   A specification that cannot fail proves nothing. So every protection of the design has a name, and Has("name") asks
   whether it is in place. A MUTANT is a run in which one protection is missing. TLC must then find a counterexample.

   Replicas repeat refusals only in the runs in which AccountRefusal is above 0: with them there are many more states, and
   without them nothing is admitted that would not be admitted with them. limiter-configurations.ts names all runs.

   Most runs have one surface. Surfaces share nothing but the ledger's window, so a second one can only do what a second
   window would do; one run has two surfaces to make sure.
   The end of this module lists what it does not cover. *)
EXTENDS LimiterScript

CONSTANTS
  Keys, Replicas, Surfaces,   \* the keys of one account, the processes of the service, the surfaces
  Requests,                   \* the requests that clients send, numbered from 1. Each is sent once.
  Commands,                   \* the operator's commands that change the account. Each is given once.
  Kinds,                      \* what such a command may be: "revoke", "rotate", "suspend", "resume", "other"
  Costs,                      \* how many requests one request may count as
  AccountLimit, KeyLimit,     \* per window
  MaxTime,                    \* the run ends at this time
  ClockStart,                 \* what Redis's clock shows at the beginning
  StepsBack, StepsForward,    \* by how much Redis's clock may step
  MaxSteps,                   \* how often it may step
  SkewsBack, SkewsForward,    \* by how much the clock of a new master may be behind, or ahead of, the old one's
  MaxLosses,                  \* how often Redis fails over, or loses its data
  Timeout, WayBack,           \* a replica answers 503 after Timeout. The deadline of a charge is WayBack earlier.
  Grace,                      \* how long the old secret works after a rotation
  LookUpTime,                 \* a look-up's version that comes to Redis so long after the look-up began is ignored
  VersionLife,                \* how long Redis keeps the version of an account after it was raised, at least
  AccountRefusal, KeyRefusalLife,  \* how long a replica may repeat account_exhausted and key_exhausted. 0: never
  GrantAmount, GrantExpires,  \* the grant that the operator may issue
  Features                    \* what may happen in this run. See the uses of May.

May(feature) == feature \in Features

Never == 1000   \* a time after the end of every run

VARIABLES
  elapsed,    \* true time, in ticks. No process can read it, but every monotonic timer runs with it.
  offset,     \* Redis's clock shows elapsed + offset
  stepsTaken, \* how often the clock has stepped
  losses,     \* how often Redis has failed over or lost its data
  master,     \* what Redis holds: a record as EmptyRedis in LimiterScript.tla
  behind,     \* what its replica holds: the master's data at some earlier time
  versionEnds, \* when the version in Redis expires, in true time
  store,      \* the account's record in MongoDB
  commands,   \* the operator's commands and how far each has come
  acked,      \* the changes that were acknowledged to the operator
  grant,      \* how far the grant has come
  known,      \* for each replica: the keys that it has cached
  refusals,   \* for each replica: the refusals that it repeats by itself
  requests    \* every request, with where it is and what its client was told

vars == <<elapsed, offset, stepsTaken, losses, master, behind, versionEnds, store, commands, acked, grant, known,
          refusals, requests>>

now == elapsed + offset   \* what Redis's clock shows

-------------------------------------------------------------------------------
(* The initial state. *)

(* place: where the request is.
     idle     its client has not sent it yet
     looking  a replica looks its key up in the store
     putting  the store has answered. The replica tells Redis the version of the account.
     put      Redis knows the version. The replica is about to cache the key and to send the charge.
     leaving  the charge waits until the replica has read what has arrived
     sent     the charge is on its way to Redis
     ran      Redis has run the charge. The answer is on its way back.
     drawing  a window is exhausted. The request to draw on a grant is on its way to Redis.
     drawn    Redis has answered that. The answer is on its way back.
     gone     nothing more happens
   outcome: what the client was told: none (nothing yet), admitted, granted, refused (429), unauthorized (401 or 403),
   timed_out (503 because Redis was slow, or the account is being changed), disconnected (503 because the connection
   closed). *)
Idle ==
  [ place |-> "idle", outcome |-> "none", key |-> "none", surface |-> "none", cost |-> 0, replica |-> "none",
    begun |-> 0,                       \* when the look-up began, on Redis's clock
    version |-> 0, secretEnds |-> 0,   \* what the replica knows about the key
    until |-> 0,                       \* when the replica gives up, in true time
    deadline |-> 0,                    \* the deadline of the charge, on Redis's clock
    sentAt |-> 0,
    dropped |-> FALSE,                 \* whether the replica has reconnected since the store answered, or since it sent
    lookUps |-> 0,
    verdict |-> "none", window |-> NoWindow, answer |-> <<>>,   \* the answer of Redis
    cached |-> FALSE,                  \* whether the replica answered from its cache of refusals
    charges |-> 0,                     \* how often Redis has charged it
    copied |-> FALSE, lost |-> FALSE,  \* whether Redis's replica has the charge; whether a failover has lost it
    late |-> FALSE,                    \* whether Redis charged it after the client was told timed_out
    forbidden |-> FALSE,               \* whether Redis decided it although its key might no longer be used
    drewForbidden |-> FALSE ]          \* whether it drew on a grant when its key might no longer be used

Unknown == [version |-> NoVersion, secretEnds |-> 0]
NoRefusal == [scope |-> "none", until |-> 0, cost |-> 0, accountUsed |-> 0, keyUsed |-> 0]

Init ==
  /\ elapsed = 0 /\ offset = ClockStart /\ stepsTaken = 0 /\ losses = 0
  /\ master = [EmptyRedis EXCEPT !.version = IF May("cold") THEN NoVersion ELSE 1]
  /\ behind = master
  /\ versionEnds = Never
  /\ store = [version |-> 1, revoked |-> {}, suspended |-> FALSE, ends |-> [k \in Keys |-> 0]]
  /\ commands = [c \in Commands |-> [step |-> "new", kind |-> "none", key |-> "none", version |-> NoVersion, at |-> 0,
                                    superseded |-> FALSE]]
  /\ acked = {}
  /\ grant = [step |-> "none", key |-> "none", placedAt |-> 0, fills |-> 0, told |-> {}]
  /\ known = [r \in Replicas |-> [k \in Keys |->
       IF May("cold") THEN Unknown ELSE [version |-> 1, secretEnds |-> 0]]]
  /\ refusals = [r \in Replicas |-> <<>>]
  /\ requests = [q \in Requests |-> Idle]

-------------------------------------------------------------------------------
(* What a replica does with a request. *)

\* A key is cached without a time limit.
IsKnown(r, k) == known[r][k].version # NoVersion

RefusalOf(r, s, k) == Get(refusals[r], <<s, k>>, NoRefusal)

\* Whether a replica refuses a request by itself.
\* Without the protection it repeats the refusal of a dear request to a cheap one, for which there may be room.
\* In truth it does so only in a flood (FLOOD_REFUSALS in src/limiter/refusal-cache.ts). Here it does so from the first on.
\* code: src/limiter/refusal-cache.ts | if (now >= known.endsAt) return undefined;
Repeats(r, s, k, cost) ==
  LET refusal == RefusalOf(r, s, k)
  IN /\ refusal.scope # "none"
     /\ elapsed < refusal.until
     /\ cost >= refusal.cost \/ ~Has("refusal only for that cost")

\* The request q as it leaves for Redis. The deadline is on Redis's clock: a replica knows it from earlier answers.
\* code: src/limiter/limiter.ts | deadlineMs: this.#clocks.timeAt(giveUpAt - this.#wayBackMs, accountId),
Sent(q, version, secretEnds) ==
  LET until == IF May("late") THEN elapsed + Timeout ELSE Never
  IN [q EXCEPT !.place = "sent", !.version = version, !.secretEnds = secretEnds, !.dropped = FALSE, !.begun = 0,
               !.until = until,
               !.sentAt = IF AccountRefusal > 0 THEN elapsed ELSE 0,   \* only the cache of refusals needs it
               !.deadline = IF May("late") THEN until - WayBack + offset ELSE 0]

\* The charges of one turn of a replica's event loop leave together at its end. The replica may reconnect within that turn.
\* code: src/limiter/limiter.ts | await this.#depart();
Leaving(q, version, secretEnds) ==
  IF May("departure")
  THEN [q EXCEPT !.place = "leaving", !.version = version, !.secretEnds = secretEnds, !.dropped = FALSE, !.begun = 0]
  ELSE Sent(q, version, secretEnds)

\* The request q, whose key the replica begins to look up. Only runs with slow look-ups need to know when.
\* code: src/accounts/authenticate.ts | const begunMs = clock.now();
Looking(q) ==
  [q EXCEPT !.place = "looking", !.dropped = FALSE, !.version = 0, !.secretEnds = 0, !.begun = IF May("slow") THEN now ELSE 0]

\* A request at its end. What matters no longer is forgotten, so that TLC sees equal states as equal.
Ended(q, outcome) ==
  [q EXCEPT !.place = "gone", !.outcome = outcome, !.replica = "none", !.begun = 0, !.version = 0, !.secretEnds = 0,
            !.until = 0, !.deadline = 0, !.sentAt = 0, !.dropped = FALSE, !.lookUps = 0, !.answer = <<>>]

\* What no step of a request changes. Unchanged2 and Unchanged3 below are the same for commands and for grants.
Unchanged1 == UNCHANGED <<elapsed, offset, stepsTaken, losses, commands, acked, grant, store>>

(* A client sends a request. The replica refuses it by itself, or sends a charge, or looks the key up first. *)
\* code: src/api/admit.ts | const found = authenticator.authenticate(credentials);
Offer(q, r, s, k, cost) ==
  LET new == [Idle EXCEPT !.key = k, !.surface = s, !.cost = cost, !.replica = r]
      refusal == RefusalOf(r, s, k)
  IN /\ requests[q].place = "idle"
     /\ (IF q = 1 THEN TRUE ELSE requests[q - 1].place # "idle")   \* The requests differ only in their numbers, so they come in order.
     /\ requests' = [requests EXCEPT ![q] =
          IF ~IsKnown(r, k) THEN Looking(new)
          ELSE IF Repeats(r, s, k, cost)
          THEN Ended([new EXCEPT !.verdict = refusal.scope, !.cached = TRUE], "refused")
          ELSE Leaving(new, known[r][k].version, known[r][k].secretEnds)]
     /\ UNCHANGED <<master, behind, versionEnds, known, refusals>> /\ Unchanged1

\* Whether a look-up must be repeated.
\* code: src/accounts/authenticate.ts | const isSame = connections === epoch.connections && before === epoch.of(caller.accountId);
Again(request) == request.dropped /\ Has("look-up repeated after a reconnection")

(* The store answers a look-up. It is always read from the primary, so it shows every change that was made. *)
\* code: src/accounts/authenticate.ts | const account = await store.findBySecret(hash);
ReadStore(q) ==
  LET request == requests[q]
      k == request.key
      ends == store.ends[k]
      over == k \in store.revoked \/ store.suspended \/ (ends > 0 /\ now >= ends)
  IN /\ request.place = "looking"
     /\ requests' = [requests EXCEPT ![q] =
          IF over THEN Ended(request, "unauthorized")
          ELSE [request EXCEPT !.place = "putting", !.version = store.version, !.secretEnds = ends]]
     /\ UNCHANGED <<master, behind, versionEnds, known, refusals>> /\ Unchanged1

\* A version that was raised must outlive every replica's copy of what was before. An older one does not prolong it.
\* code: lua/raise-version.lua | redis.call('PEXPIREAT', KEYS[1], expires_at, 'GT')
EndsAfter(version) ==
  IF master.version > version THEN versionEnds ELSE IF VersionLife = Never THEN Never ELSE elapsed + VersionLife

(* Redis takes over the version that a look-up has found, if it is higher than what Redis has. The replica may have been held
   up for long since the store answered. So the message carries a deadline of its own. If Redis ignores it for that, the
   replica does not cache the key, but sends the charge. *)
\* code: src/limiter/account-versions.ts | const deadlineMs = begunMs + LOOKUP_MS;
\* code: lua/raise-version.lua | if deadline > 0 and now >= deadline then return 0 end
PutVersion(q) ==
  LET request == requests[q]
      tooLate == May("slow") /\ Has("version has a deadline") /\ now >= request.begun + LookUpTime
      raises == ~tooLate /\ Has("look-up raises the version")
  IN /\ request.place = "putting"
     /\ requests' = [requests EXCEPT ![q] =
          IF ~tooLate THEN [request EXCEPT !.place = "put", !.begun = 0]
          ELSE IF Again(request) THEN Looking(request)
          ELSE Leaving(request, request.version, request.secretEnds)]
     /\ master' = IF raises THEN RaiseVersion(master, request.version, 0) ELSE master
     /\ versionEnds' = IF raises THEN EndsAfter(request.version) ELSE versionEnds
     /\ UNCHANGED <<behind, known, refusals>> /\ Unchanged1

(* Then the replica caches the key. If it has reconnected since the store answered, it looks the key up again: Redis may have
   lost a newer version that was announced in between. *)
\* code: src/accounts/authenticate.ts | if (isSame && isKnown) this.#knownKeys.set(hash, { caller, epoch: before });
CacheKey(q) ==
  LET request == requests[q]
      found == [version |-> request.version, secretEnds |-> request.secretEnds]
  IN /\ request.place = "put"
     /\ requests' = [requests EXCEPT ![q] =
          IF Again(request) THEN Looking(request) ELSE Leaving(request, request.version, request.secretEnds)]
     /\ known' = IF Again(request) THEN known ELSE [known EXCEPT ![request.replica][request.key] = found]
     /\ UNCHANGED <<master, behind, versionEnds, refusals>> /\ Unchanged1

\* The charge leaves. Without the protection it leaves with a version from before the replica reconnected.
\* code: src/limiter/limiter.ts | return isSame ? accountVersion : NO_VERSION;
Leave(q) ==
  LET request == requests[q]
  IN /\ request.place = "leaving"
     /\ requests' = [requests EXCEPT ![q] =
          IF request.dropped /\ Has("no charge with a key from before a reconnection") THEN Looking(request)
          ELSE Sent(request, request.version, request.secretEnds)]
     /\ UNCHANGED <<master, behind, versionEnds, known, refusals>> /\ Unchanged1

(* Redis runs the script. *)

\* The acknowledged changes that forbid the use of the key.
Forbidding(k) ==
  {change \in acked : \/ change.kind = "revoke" /\ change.key = k
                      \/ change.kind = "suspend"
                      \/ change.kind = "rotate" /\ change.key = k /\ now >= store.ends[k]}

Exhausted == {"account_exhausted", "key_exhausted"}

\* The window of a request whose key may not be used is never called exhausted, so nothing is drawn for it either.
Run(q) ==
  LET request == requests[q]
      charge == NewCharge(request.surface, request.key, AccountLimit, KeyLimit, request.cost, request.deadline,
                          request.version, request.secretEnds)
      answer == Decide(master, charge, now)
      charged == answer.verdict = "admitted"
      ran == [request EXCEPT
               !.place = "ran", !.verdict = answer.verdict, !.window = answer.window,
               !.deadline = IF May("grants") THEN @ ELSE 0,
               !.answer = [now |-> now, reset |-> EndOf(answer.window) - now, accountUsed |-> answer.accountUsed,
                           keyUsed |-> answer.keyUsed, grantAmount |-> -1],
               !.charges = @ + (IF charged THEN 1 ELSE 0),
               !.late = @ \/ (charged /\ request.outcome = "timed_out"),
               !.forbidden = @ \/ (answer.verdict \in Exhausted \cup {"admitted"} /\ Forbidding(request.key) # {})]
  IN /\ request.place = "sent"
     /\ master' = answer.redis
     /\ requests' = [requests EXCEPT ![q] = IF request.outcome = "none" THEN ran ELSE Ended(ran, request.outcome)]
     /\ UNCHANGED <<behind, versionEnds, known, refusals>> /\ Unchanged1

(* Redis runs the script that draws on a grant. *)
RunDraw(q) ==
  LET request == requests[q]
      answer == Draw(master, request.surface, request.key, request.cost, request.deadline, now)
      drawn == answer.outcome = "drawn"
      ran == [request EXCEPT
               !.place = "drawn", !.deadline = 0,
               \* code: src/limiter/limiter.ts | const decision = decisionOf(outcome === "drawn" ? "granted" : first, call, reply, grants);
               !.verdict = CASE drawn -> "granted" [] answer.outcome = "stale" -> "stale" [] OTHER -> @,
               !.window = IF drawn THEN Max(@, WindowOf(now)) ELSE @,
               !.answer = [@ EXCEPT !.now = now, !.grantAmount = answer.grantAmount],
               !.charges = @ + (IF drawn THEN 1 ELSE 0),
               !.late = @ \/ (drawn /\ request.outcome = "timed_out"),
               !.drewForbidden = @ \/ (drawn /\ Forbidding(request.key) # {})]
  IN /\ request.place = "drawing"
     /\ master' = answer.redis
     /\ requests' = [requests EXCEPT ![q] = IF request.outcome = "none" THEN ran ELSE Ended(ran, request.outcome)]
     /\ UNCHANGED <<behind, versionEnds, known, refusals>> /\ Unchanged1

(* The answer reaches the replica. *)

\* Look-ups that one request may repeat.
\* code: src/api/admit.ts | const MAX_LOOKUPS = 3;
MaxLookUps == 2

\* The refusal that the replica will repeat, or NoRefusal. Its end is computed from when the charge was sent, which was
\* before Redis looked at its clock. So it is too early, never too late.
\* code: src/limiter/refusal-cache.ts | if (lifeMs === undefined || changes !== this.#connection.changes) return;
\* code: src/limiter/refusal-cache.ts | if (!countsAsOne(request) || decision.grantRemaining !== null) return;
\* code: src/limiter/refusal-cache.ts | const remainsMs = Math.min(lifeMs, decision.resetMs - MARGIN_MS);
NewRefusal(request) ==
  LET life == IF ~Has("refusal has a time limit") THEN Never
              ELSE IF request.verdict = "account_exhausted" THEN AccountRefusal ELSE KeyRefusalLife
      end == IF Has("refusal ends with its window") THEN request.sentAt + request.answer.reset ELSE Never
      useless == \/ request.verdict \notin Exhausted
                 \/ AccountRefusal = 0
                 \/ request.dropped /\ Has("no refusal from before a drop")
                 \/ request.answer.grantAmount # -1 /\ Has("no refusal beside a grant")
                 \/ request.cost # 1 /\ Has("refusal only for that cost")
                 \/ elapsed >= Min(request.sentAt + life, end)
  IN IF useless THEN NoRefusal
     ELSE [ scope |-> request.verdict, until |-> Min(request.sentAt + life, end), cost |-> request.cost,
            accountUsed |-> request.answer.accountUsed, keyUsed |-> request.answer.keyUsed ]

\* Whether the replica draws on a grant. In runs without grants nothing could be drawn.
Draws(verdict) == May("grants") /\ (verdict \in Exhausted \/ (verdict = "admitted" /\ ~Has("grants only beyond a window")))

\* The request q, which the replica draws on a grant. A window that has ended is not exhausted any more.
\* code: src/limiter/limiter.ts | const deadlineMs = Math.min(call.deadlineMs, (reply.window + 1) * windowSeconds * 1000);
Drawing(request) ==
  LET ends == IF Has("a draw ends with its window") THEN EndOf(request.window) ELSE Never
  IN [request EXCEPT !.place = "drawing", !.deadline = IF @ = 0 THEN ends ELSE Min(@, ends)]

\* A request that is refused at its end, and the refusal that the replica may repeat.
Refuse(q) ==
  LET request == requests[q]
      refusal == NewRefusal(request)
  IN /\ requests' = [requests EXCEPT ![q] = Ended(request, "refused")]
     /\ refusals' = IF refusal.scope = "none" THEN refusals
                    ELSE [refusals EXCEPT ![request.replica] = <<request.surface, request.key>> :> refusal @@ @]

\* The answer to a draw. A stale one is sent again in truth; here it ends.
ReceiveDraw(q) ==
  LET request == requests[q]
      outcome == IF request.verdict = "granted" THEN "granted" ELSE "timed_out"
  IN /\ request.place = "drawn"
     /\ IF request.verdict \in Exhausted THEN Refuse(q)
        ELSE requests' = [requests EXCEPT ![q] = Ended(request, outcome)] /\ UNCHANGED refusals
     /\ UNCHANGED <<master, behind, versionEnds, known>> /\ Unchanged1

Receive(q) ==
  LET request == requests[q]
      r == request.replica
      k == request.key
      tryAgain == request.lookUps < MaxLookUps
      goesOn == [requests EXCEPT ![q] =
          CASE Draws(request.verdict) -> Drawing(request)
            [] request.verdict = "admitted" -> Ended(request, "admitted")
            [] request.verdict = "replaced" -> Ended(request, "unauthorized")
            \* code: src/api/admit.ts | authenticator.forget(credentials, accountVersion);
            [] request.verdict = "outdated" /\ ~Has("outdated key is looked up again") -> Ended(request, "unauthorized")
            [] request.verdict = "outdated" /\ tryAgain ->
                 Looking([request EXCEPT !.lookUps = @ + 1, !.verdict = "none", !.window = NoWindow, !.answer = <<>>,
                                         !.until = 0, !.sentAt = 0])
            \* code: src/api/admit.ts | if (lookups === MAX_LOOKUPS) return keyRefused(refused);
            [] OTHER -> Ended(request, "timed_out")]
  IN /\ request.place = "ran"
     /\ IF request.verdict \in Exhausted /\ ~Draws(request.verdict) THEN Refuse(q)
        ELSE requests' = goesOn /\ UNCHANGED refusals
     \* Another look-up may have refreshed the key meanwhile. Only the version that was sent is outdated.
     \* code: src/accounts/authenticate.ts | if (known?.caller.accountVersion === version) this.#knownKeys.set(hash, { ...known, epoch: null });
     /\ known' = IF request.verdict = "outdated" /\ known[r][k].version = request.version
                 THEN [known EXCEPT ![r][k] = Unknown] ELSE known
     /\ UNCHANGED <<master, behind, versionEnds>> /\ Unchanged1

(* The replica answers 503, because Redis was slow. A timer may fire one tick early. A message that is on its way stays on
   its way: it may wait in a socket and reach Redis later. *)
\* code: src/limiter/observer.ts | fail(new Error(`Redis did not answer within ${timeoutMs} ms`))
GiveUp(q) ==
  LET request == requests[q]
  IN /\ May("late")
     /\ request.place \in {"sent", "ran", "drawing", "drawn"}
     /\ request.outcome = "none"
     /\ elapsed >= request.until - 1
     /\ requests' = [requests EXCEPT ![q] =
          IF request.place \in {"sent", "drawing"} THEN [request EXCEPT !.outcome = "timed_out"]
          ELSE Ended(request, "timed_out")]
     /\ UNCHANGED <<master, behind, versionEnds, known, refusals>> /\ Unchanged1

(* The connection closes before the answer comes. The charge may have run, may still run, or may never run. The replica
   answers 503 and does not send the charge again. Without that protection the client library sends it again. *)
\* code: src/infra/redis.ts | An ioredis client that never reads from a replica and never sends a command twice.
LoseAnswer(q) ==
  LET request == requests[q]
  IN /\ May("lost answers")
     /\ request.place \in {"sent", "ran", "drawing", "drawn"}
     /\ request.outcome = "none"
     /\ requests' = [requests EXCEPT ![q] =
          IF ~Has("no resend") THEN [request EXCEPT !.place = "sent", !.deadline = request.until - WayBack + offset]
          ELSE IF request.place \in {"sent", "drawing"} THEN [request EXCEPT !.outcome = "disconnected"]
          ELSE Ended(request, "disconnected")]
     /\ UNCHANGED <<master, behind, versionEnds, known, refusals>> /\ Unchanged1

-------------------------------------------------------------------------------
(* Time. *)

\* Redis without what expires at that time: the ledger by Redis's clock, the version in true time.
AtTime(redis, time, true) ==
  [WithoutExpired(redis, time) EXCEPT !.version = IF versionEnds > true THEN @ ELSE NoVersion]

\* A refusal that a replica may repeat no longer is removed, so that TLC sees equal states as equal.
Refreshed(true) ==
  refusals' = [r \in Replicas |->
    LET live == {name \in DOMAIN refusals[r] : refusals[r][name].until > true}
    IN [name \in live |-> refusals[r][name]]]

Tick ==
  /\ elapsed < MaxTime
  /\ elapsed' = elapsed + 1
  /\ master' = AtTime(master, now + 1, elapsed + 1)
  /\ behind' = AtTime(behind, now + 1, elapsed + 1)
  /\ Refreshed(elapsed + 1)
  /\ UNCHANGED <<offset, stepsTaken, losses, versionEnds, store, commands, acked, grant, known, requests>>

(* Redis's clock steps, back or forward, as when its machine is corrected by NTP. *)
StepClock(step) ==
  /\ stepsTaken < MaxSteps
  /\ now + step >= 0
  /\ stepsTaken' = stepsTaken + 1
  /\ offset' = offset + step
  /\ master' = AtTime(master, now + step, elapsed)
  /\ UNCHANGED <<elapsed, losses, behind, versionEnds, store, commands, acked, grant, known, refusals, requests>>

-------------------------------------------------------------------------------
(* Redis's replica, failovers, and the loss of all data. *)

\* The replica catches up. It may lag behind by any number of writes, but it never has a later write without an earlier one.
Replicate ==
  /\ May("failover") /\ losses < MaxLosses
  /\ behind # master
  /\ behind' = master
  /\ requests' = [q \in Requests |-> [requests[q] EXCEPT !.copied = requests[q].charges > 0]]
  /\ UNCHANGED <<elapsed, offset, stepsTaken, losses, master, versionEnds, store, commands, acked, grant, known, refusals>>

\* All connections break. Charges that Redis has not run are lost. An answer may already be in the replica's buffer.
Broken(request) ==
  CASE request.place \in {"sent", "drawing"} /\ request.outcome # "none" -> Ended(request, request.outcome)
    [] request.place \in {"sent", "drawing"} -> Ended(request, "disconnected")
    [] request.place \in {"putting", "put", "leaving", "ran", "drawn"} -> [request EXCEPT !.dropped = TRUE]
    [] OTHER -> request

\* From now on another server, or an empty one, answers. A replica uses no cache before it has reconnected.
\* "dropped" stands for a generation: a number that each drop raises, and that a replica compares when an answer comes.
Replaced(redis, skew, noticed) ==
  /\ losses < MaxLosses
  /\ losses' = losses + 1
  /\ now + skew >= 0
  /\ offset' = offset + skew
  /\ master' = AtTime(redis, now + skew, elapsed)
  /\ behind' = master'
  /\ LET lost(request) == request.charges > 0 /\ (redis = EmptyRedis \/ ~request.copied)
         after(request) == [request EXCEPT !.lost = @ \/ lost(request)]
     IN requests' = [q \in Requests |-> IF noticed THEN after(Broken(requests[q])) ELSE after(requests[q])]
  \* code: src/accounts/authenticate.ts | if (known.epoch !== this.#options.epoch.of(accountId)) return undefined;
  \* code: src/infra/redis-epoch.ts | connection.on("ready", () => {
  /\ known' = IF noticed /\ Has("keys looked up after a reconnection") THEN [r \in Replicas |-> [k \in Keys |-> Unknown]] ELSE known
  \* code: src/limiter/refusal-cache.ts | if (!countsAsOne(request) || this.#connection.changes !== this.#changes) return undefined;
  /\ refusals' = IF noticed /\ Has("refusals dropped on reconnection") THEN [r \in Replicas |-> <<>>] ELSE refusals
  /\ UNCHANGED <<elapsed, stepsTaken, versionEnds, store, commands, acked, grant>>

Failover ==
  /\ May("failover")
  /\ \/ \E skew \in SkewsForward : Replaced(behind, skew, TRUE)
     \/ \E skew \in SkewsBack : Replaced(behind, -skew, TRUE)

\* Redis restarts without its data, or somebody deletes all keys (FLUSHALL), which no replica notices.
LoseData == May("loss of data") /\ Replaced(EmptyRedis, 0, TRUE)
DeleteAll == May("all keys deleted") /\ Replaced(EmptyRedis, 0, FALSE)

-------------------------------------------------------------------------------
(* The operator revokes, rotates, suspends, resumes, or changes something else in the account (such as adding a key).
   A command writes the store, then announces the record's version in Redis, then is acknowledged. Nothing is announced about
   other changes: a look-up finds them. *)

\* code: src/accounts/store.ts | return (await this.#accounts.replaceOne(filter, after)) ? after : undefined;
Stored(kind, k) ==
  LET after == [store EXCEPT !.version = @ + 1]
  IN CASE kind = "revoke" -> [after EXCEPT !.revoked = @ \cup {k}]
       [] kind = "rotate" -> [after EXCEPT !.ends = [@ EXCEPT ![k] = now + Grace]]
       [] kind = "suspend" -> [after EXCEPT !.suspended = TRUE]
       [] kind = "resume" -> [after EXCEPT !.suspended = FALSE]
       [] OTHER -> after

Possible(kind, k) ==
  CASE kind = "revoke" -> k \notin store.revoked
    [] kind = "rotate" -> k \notin store.revoked /\ store.ends[k] = 0
    [] kind = "suspend" -> ~store.suspended
    [] kind = "resume" -> store.suspended
    [] OTHER -> TRUE

Unchanged2 == UNCHANGED <<elapsed, offset, stepsTaken, losses, behind, grant, known, refusals, requests>>

WriteStore(c, kind, k) ==
  /\ commands[c].step = "new"
  /\ Possible(kind, k)
  /\ store' = Stored(kind, k)
  /\ commands' = [other \in Commands |->
       IF other # c
       THEN [commands[other] EXCEPT !.superseded = @ \/ (kind = "resume" /\ commands[other].kind = "suspend")]
       ELSE
       [ step |-> IF kind = "other" THEN "done" ELSE "stored", kind |-> kind, key |-> k, version |-> store'.version,
         at |-> IF May("slow") THEN now ELSE 0, superseded |-> FALSE ]]
  \* A suspension is no longer promised once its end has begun, whether or not it was acknowledged before.
  /\ acked' = IF kind = "resume" THEN {change \in acked : change.kind # "suspend"} ELSE acked
  /\ UNCHANGED <<master, versionEnds>> /\ Unchanged2

(* Redis takes over the version, unless it knows a newer one: another command has overtaken this one then, and the newer
   record has both changes.
   An announcement has a deadline as a look-up has. If it has passed, the command reads the record again and announces that.
   The code reads the record each time before it announces it. *)
\* code: src/accounts/announce.ts | known = await versions.raise(accountId, { version, begunMs, over: mayLower ? known : 0 });
Announce(c) ==
  LET command == commands[c]
      tooLate == May("slow") /\ Has("announcement has a deadline") /\ now >= command.at + LookUpTime
  IN /\ command.step = "stored"
     /\ master' = IF tooLate THEN master ELSE RaiseVersion(master, command.version, 0)
     /\ versionEnds' = IF tooLate THEN versionEnds ELSE EndsAfter(command.version)
     /\ commands' = IF tooLate THEN [commands EXCEPT ![c].version = store.version, ![c].at = now]
                    ELSE [commands EXCEPT ![c].step = "announced", ![c].at = 0]
     /\ UNCHANGED <<store, acked>> /\ Unchanged2

(* The command is acknowledged. *)
\* code: src/accounts/service.ts | await announceAccount(changed._id, this.#options).catch((cause: unknown) => {
Acknowledge(c) ==
  LET command == commands[c]
      early == ~Has("acknowledged after the announcement")
  IN /\ command.step = "announced" \/ (early /\ command.step = "stored")
     /\ commands' = [commands EXCEPT ![c].step = "done", ![c].version = NoVersion, ![c].at = 0]
     /\ acked' = IF command.kind = "resume" \/ command.superseded THEN acked
                 ELSE acked \cup {[kind |-> command.kind, key |-> command.key]}
     /\ UNCHANGED <<store, master, versionEnds>> /\ Unchanged2

-------------------------------------------------------------------------------
(* The operator issues a grant: places it empty, then fills it. An interrupted command is repeated, so each step may come
   again. If replicas repeat refusals, the command waits in between for as long as a refusal is repeated: from the placing
   on no new refusal is cached for the key, and in the end no old one is left. *)
Unchanged3 == UNCHANGED <<elapsed, offset, stepsTaken, losses, behind, versionEnds, store, commands, acked, known,
                          refusals, requests>>

TheGrant(s, k) ==
  [id |-> 1, key |-> k, surface |-> s, remaining |-> 0, amount |-> 0, expires |-> GrantExpires]

\* code: src/grants/service.ts | await this.#counters.put({ ...address, amount: 0, expiresAtMs: Date.parse(record.expires_at) });
Place(s, k) ==
  /\ May("grants")
  /\ grant.step = "none"
  /\ master' = PlaceGrant(master, TheGrant(s, k))
  /\ grant' = [grant EXCEPT !.step = "placed", !.key = k, !.placedAt = elapsed]
  /\ Unchanged3

\* code: src/grants/service.ts | await setTimeout(issueWaitMs);
\* code: src/grants/service.ts | if (await this.#counters.fillOnce({ ...address, amount })) {
Fill(s, k) ==
  /\ grant.step = "placed" /\ grant.key = k
  /\ grant.fills < 2
  /\ elapsed >= grant.placedAt + AccountRefusal \/ ~Has("issue waits for cached refusals")
  /\ master' = FillGrant(master, 1, s, k, GrantAmount)
  /\ grant' = [grant EXCEPT !.fills = @ + 1]
  /\ Unchanged3

(* Another way, only for comparison: the command waits for nothing, but tells every replica to drop its refusals, and is
   acknowledged when all have done so. *)
DropAtIssue(r) ==
  /\ May("drop at issue")
  /\ grant.fills > 0 /\ r \notin grant.told
  /\ grant' = [grant EXCEPT !.told = @ \cup {r}]
  /\ refusals' = [refusals EXCEPT ![r] = <<>>]
  /\ requests' = [q \in Requests |->
       IF requests[q].replica = r /\ requests[q].place \in {"sent", "ran", "drawing", "drawn"} THEN [requests[q] EXCEPT !.dropped = TRUE]
       ELSE requests[q]]
  /\ UNCHANGED <<elapsed, offset, stepsTaken, losses, master, behind, versionEnds, store, commands, acked, known>>

-------------------------------------------------------------------------------
Next ==
  \/ \E q \in Requests :
       \/ \E r \in Replicas, s \in Surfaces, k \in Keys, cost \in Costs : Offer(q, r, s, k, cost)
       \/ ReadStore(q) \/ PutVersion(q) \/ CacheKey(q) \/ Leave(q) \/ Run(q) \/ Receive(q)
       \/ RunDraw(q) \/ ReceiveDraw(q) \/ GiveUp(q) \/ LoseAnswer(q)
  \/ Tick
  \/ \E step \in StepsBack : StepClock(-step)
  \/ \E step \in StepsForward : StepClock(step)
  \/ Replicate \/ Failover \/ LoseData \/ DeleteAll
  \/ \E c \in Commands :
       \/ \E kind \in Kinds, k \in Keys : WriteStore(c, kind, k)
       \/ Announce(c) \/ Acknowledge(c)
  \/ \E s \in Surfaces, k \in Keys : Place(s, k) \/ Fill(s, k)
  \/ \E r \in Replicas : DropAtIssue(r)

\* Keys and replicas are interchangeable: TLC need not look at a state that differs from another only in their names.
Symmetry == Permutations(Keys) \cup Permutations(Replicas)

-------------------------------------------------------------------------------
(* The promises. First, what was truly charged. It is computed from the requests, not from Redis. *)

Matches(request, name) ==
  name \in {AccountName(request.surface), KeyName(request.surface, request.key)}

\* The sum of the costs of some requests. Costs are 1 or 2.
Total(some) == Cardinality(some) + Cardinality({q \in some : requests[q].cost = 2})

\* What was charged under a name in a window. The window is the one that the script decided for, and told the client.
ChargedIn(window, name) ==
  Total({q \in Requests : requests[q].verdict = "admitted" /\ requests[q].window = window /\ Matches(requests[q], name)})

\* The same without what a failover has lost.
KeptIn(window, name) ==
  Total({q \in Requests : /\ requests[q].verdict = "admitted" /\ requests[q].window = window
                          /\ Matches(requests[q], name) /\ ~requests[q].lost})

LimitOf(name) == IF \E s \in Surfaces : name = AccountName(s) THEN AccountLimit ELSE KeyLimit

\* Promise 1, exact, one half: never more than the limit, for the account and for each key. Charges whose answer was lost
\* count too. If Redis fails over, what was not replicated is admitted again, and no more than that.
AdmittedAtMostTheLimit ==
  \A q \in Requests : requests[q].verdict = "admitted" =>
    \A name \in {AccountName(requests[q].surface), KeyName(requests[q].surface, requests[q].key)} :
      KeptIn(requests[q].window, name) <= LimitOf(name)

\* Promise 1, the other half: a refusal says the truth. So everything up to the limit is admitted: min(offered, limit).
RefusedOnlyIfExhausted ==
  \A q \in Requests :
    LET request == requests[q]
        account == ChargedIn(request.window, AccountName(request.surface)) + request.cost > AccountLimit
        own == ChargedIn(request.window, KeyName(request.surface, request.key)) + request.cost > KeyLimit
    IN ~request.cached /\ request.verdict \in {"account_exhausted", "key_exhausted", "granted"} =>
         /\ request.verdict = "account_exhausted" => account
         /\ request.verdict = "key_exhausted" => own
         /\ request.verdict = "granted" => account \/ own

\* Promise 2: a refusal charges nothing, and neither does a grant. Redis has counted no more than what was charged.
RefusalChargesNothing ==
  \A name \in DOMAIN master.ledger.counts : master.ledger.counts[name] <= ChargedIn(master.ledger.window, name)

\* Promise 2: where both windows are exhausted, the refusal names the account.
AccountIsNamedFirst ==
  \A q \in Requests : requests[q].place = "ran" /\ requests[q].verdict = "key_exhausted" =>
    requests[q].answer.accountUsed + requests[q].cost <= AccountLimit

\* Promise 4: a request counts in the window that Redis's clock shows. After the clock has stepped back it may be the next.
WindowIsRight ==
  \A q \in Requests : requests[q].place \in {"ran", "drawn"} /\ requests[q].verdict # "stale" =>
    \/ requests[q].window = WindowOf(requests[q].answer.now)
    \/ stepsTaken + losses > 0 /\ requests[q].window = WindowOf(requests[q].answer.now) + 1

\* Promise 5: after 503 because Redis was slow, nothing is charged.
NothingChargedLate == \A q \in Requests : ~requests[q].late

\* Promise 6: charged at most once.
ChargedOnce == \A q \in Requests : requests[q].charges <= 1

\* Revocation, rotation and suspension: once acknowledged, Redis admits nothing that they forbid, and tells nobody that a
\* window is exhausted and that a grant may be drawn on.
ForbiddenNowhere == \A q \in Requests : ~requests[q].forbidden
\* A draw follows its charge. What is acknowledged in between does not stop it.
NothingDrawnForbidden == \A q \in Requests : ~requests[q].drewForbidden

\* Nor is a request refused with 401 or 403 without a reason: its key was revoked or replaced, or the account suspended.
UnauthorizedOnlyIfForbidden ==
  \A q \in Requests : requests[q].outcome = "unauthorized" =>
    LET k == requests[q].key
    IN \/ k \in store.revoked
       \/ store.ends[k] > 0 /\ now >= store.ends[k]
       \/ \E c \in Commands : commands[c].kind = "suspend"
\* A request is answered 503 only if something goes wrong, or a command changes the account. A key that no replica knows yet
\* is nothing wrong.
TimedOutOnlyForACause ==
  Features \subseteq {"cold"} /\ Commands = {} => \A q \in Requests : requests[q].outcome # "timed_out"

\* Grants: drawn on for no more than the amount, only by their key, and never after they have expired.
GrantAtMostItsAmount ==
  Total({q \in Requests : requests[q].verdict = "granted"}) <= GrantAmount
\* The same without what a failover has lost.
GrantKept ==
  Total({q \in Requests : requests[q].verdict = "granted" /\ ~requests[q].lost}) <= GrantAmount
GrantOnlyForItsKey == \A q \in Requests : requests[q].verdict = "granted" => requests[q].key = grant.key
GrantBeforeItsEnd ==
  \A q \in Requests : requests[q].place = "drawn" /\ requests[q].verdict = "granted" => requests[q].answer.now < GrantExpires

\* The cache of refusals: what Redis would answer now, if the key may be used at all.
AnswerNow(s, k, cost) ==
  LET answer == Decide(master, NewCharge(s, k, AccountLimit, KeyLimit, cost, 0, AnyVersion, 0), now)
      isDrawn == answer.verdict \in Exhausted /\ Draw(master, s, k, cost, 0, now).outcome = "drawn"
  IN IF isDrawn THEN [answer EXCEPT !.verdict = "granted"] ELSE answer

\* A replica refuses by itself only what Redis would refuse now. After a loss of counts Redis may admit again what it has
\* forgotten. Then the refusal is still right by what was truly charged.
CachedRefusalIsRight ==
  \A r \in Replicas, s \in Surfaces, k \in Keys, cost \in Costs : Repeats(r, s, k, cost) =>
    LET answer == AnswerNow(s, k, cost)
    IN \/ answer.verdict \notin {"admitted", "granted"}
       \/ /\ losses > 0 /\ answer.verdict = "admitted"
          /\ \/ ChargedIn(answer.window, AccountName(s)) + cost > AccountLimit
             \/ ChargedIn(answer.window, KeyName(s, k)) + cost > KeyLimit

\* The weaker promise of a drop at the issue: it holds once the issue is acknowledged.
CachedRefusalIsRightAfterIssue == grant.fills = 0 \/ grant.told = Replicas => CachedRefusalIsRight

\* A repeated account_exhausted is the whole answer of Redis: the same verdict and the same numbers.
CachedAccountAnswerIsWhole ==
  \A r \in Replicas, s \in Surfaces, k \in Keys :
    LET refusal == RefusalOf(r, s, k)
        answer == AnswerNow(s, k, 1)
    IN Repeats(r, s, k, 1) /\ refusal.scope = "account_exhausted" /\ losses = 0 =>
         /\ answer.verdict = refusal.scope
         /\ answer.accountUsed = refusal.accountUsed
         /\ answer.keyUsed = refusal.keyUsed

-------------------------------------------------------------------------------
(* Each of these says that something interesting never happens. They are false, and TLC must find that. Otherwise a promise
   could hold only because the model never does what would break it. *)
NeverRefusedForTheAccount == \A q \in Requests : requests[q].verdict # "account_exhausted"
NeverStale == \A q \in Requests : requests[q].verdict # "stale"
NeverChargedButUnanswered == \A q \in Requests : ~(requests[q].outcome = "disconnected" /\ requests[q].charges = 1)
NeverInTheNextWindow == \A q \in Requests :
  ~(requests[q].place = "ran" /\ requests[q].verdict = "admitted" /\ requests[q].window = WindowOf(requests[q].answer.now) + 1)
NeverLooksAgain == \A q \in Requests : ~(requests[q].lookUps > 0 /\ requests[q].verdict = "admitted")
NeverUnauthorized == \A q \in Requests : requests[q].outcome # "unauthorized"
NeverGranted == \A q \in Requests : requests[q].outcome # "granted"
NeverRefusedFromCache == \A q \in Requests : ~requests[q].cached
NeverLosesCounts == \A q \in Requests : ~requests[q].lost
NeverMoreThanTheLimit ==
  \A q \in Requests : requests[q].outcome = "admitted" =>
    ChargedIn(requests[q].window, AccountName(requests[q].surface)) <= AccountLimit

-------------------------------------------------------------------------------
(* What this module does not cover:
     - Real durations. A tick may be a millisecond or an hour; only the order of events matters. Whether a time-out is long
       enough, and how often a charge is stale, is for the tests and the bench.
     - Lua and Redis themselves: arithmetic, parsing, the types of keys, a script that fails in the middle, memory that is
       full, persistence. The traces of the real script cover the first two.
     - Two masters at once. A master that is cut off and still answers admits beside the new one. Redis's setting
       min-replicas-to-write bounds that time; the model has one master at any moment.
     - A replica of the service that has not noticed yet that its connection is dead. It may repeat a refusal for
       AccountRefusal longer. A key that it has cached does no harm: the charge fails. In the model all replicas reconnect in
       the step in which Redis fails over.
     - Cluster: slots, and masters with clocks of their own. One account is on one master, so it is the same there, with one
       epoch for each master (redis-epoch.ts). But a master that has become a replica sends a charge on to the new one
       (MOVED), which no reconnection stops.
     - How a replica learns Redis's clock. It knows it exactly here. In truth its estimate is too early, so that charges
       become stale earlier. After a step back it is too late: see the limit "the clock steps back under a deadline".
     - A store that is restored from a backup, so that its records have lower versions than Redis knows. The traces cover the
       lowering of a version (`over` in lua/raise-version.lua), but not the commands and look-ups around it.
     - The bounds of a look-up: after three reconnections in a row authenticate.ts returns a result that was not looked up
       again, without caching it. Its charge is outdated. More than one reconnection is not modelled.
     - A look-up whose message to Redis has no answer. Its key is not cached, and the charge comes to Redis after it.
     - A stale charge or draw that is sent again, LIMITER_ON_OUTAGE=local, GET /limits, the guard against guessing, several accounts.
     - Which charges ask to be shown their grants (shown-grants.ts). Here none does: a grant is drawn on all the same.
     - Limits that differ between replicas, as during a roll-out with another LIMIT_SCALE. Each replica sends its own limits
       with each charge, and its refusals are its own, so each decision is right by the limits of its replica.
     - Requests that ought to be admitted but get 503. Refusing too much with 503 breaks no promise of this module. *)
===============================================================================
