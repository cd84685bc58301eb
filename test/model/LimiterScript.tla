---------------------------- MODULE LimiterScript ----------------------------
(* What the limiter's scripts do inside Redis: pure functions, without any state of their own. Limiter.tla begins with a
   page about TLA+ and builds its system on these functions. LimiterTrace.tla compares recorded calls of the real script
   with them.

   Notation used here:
     Name(a, b) == body            defines a function; LET ... IN defines helpers inside a body
     /\  \/  ~  #                  and, or, not, "is not equal to"; a list of lines that begin with /\ is joined by "and"
     [a |-> 1, b |-> 2]            a record with the fields a and b; r.a reads a field
     [r EXCEPT !.a = 3]            the record r with another value of the field a
     f[x], DOMAIN f                the value of the map f at x; the keys of the map
     x :> 1 @@ f                   the map f, with the value 1 at x instead of what it had there
     {x \in S : P(x)}              the members of S for which P holds
     \A x \in S : P, \E x \in S : P    P holds for every, or for at least one, member of S
     CHOOSE x \in S : P(x)         the member of S for which P holds; it is used only where there is exactly one
     CASE a -> x [] b -> y         x if a holds, or else y if b holds

   Times are whole numbers: ticks in Limiter.tla, milliseconds in the traces. TLC's numbers have 32 bits, so a trace
   subtracts a multiple of Window from all of its times. No time may be negative.

   A comment "code: FILE | TEXT" names the line of code that a definition mirrors. A test checks that FILE has TEXT. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Window,      \* the length of a window
  Outlives,    \* how long a counter is kept after the end of its window
  Form,        \* "counters": a counter for each account and key and surface; "ledger": one hash for each account
  Standing,    \* how the script learns that a key may not be used any longer: from "markers", or from the account's "version"
  Protections  \* the protections that are in place. Each mutant takes out one.

Has(protection) == protection \in Protections

Max(a, b) == IF a > b THEN a ELSE b
Min(a, b) == IF a < b THEN a ELSE b

Get(map, name, default) == IF name \in DOMAIN map THEN map[name] ELSE default

RECURSIVE Sum(_, _)
Sum(field, records) ==
  IF records = {} THEN 0
  ELSE LET one == CHOOSE r \in records : TRUE IN one[field] + Sum(field, records \ {one})

-------------------------------------------------------------------------------
(* What Redis holds of one account. All of it is in one hash slot, so one script reads and writes it in one step. *)

\* The names of what is counted. All surfaces of an account are counted apart.
AccountName(surface) == <<surface>>
KeyName(surface, key) == <<surface, key>>

\* The marker of a revoked key. Other markers are versions of the account's record, which begin with 1. 0 is no marker.
Revoked == -1
NoVersion == 0
NoWindow == -1

EmptyRedis ==
  [ counters  |-> <<>>,   \* Form "counters": name -> [window, used]
    ledger    |-> [window |-> NoWindow, counts |-> <<>>],   \* Form "ledger": one window; name -> used
    markers   |-> <<>>,   \* Standing "markers": key -> Revoked, or the version that last rotated the key
    suspended |-> FALSE,  \* Standing "markers": whether the account is suspended
    statusOf  |-> NoVersion,  \* Standing "markers": the version of the record that `suspended` was made from
    version   |-> NoVersion,  \* Standing "version": the newest version of the account's record that Redis knows
    grants    |-> {} ]    \* records [id, key, surface, remaining, amount, expires]. Ids are numbers in the order of the ids.

\* One call of the script. cost, limits: in requests. deadline: 0 for none. secretEnds: 0 for never.
NewCharge(surface, key, accountLimit, keyLimit, cost, deadline, version, secretEnds) ==
  [ surface |-> surface, key |-> key, accountLimit |-> accountLimit, keyLimit |-> keyLimit, cost |-> cost,
    deadline |-> deadline, version |-> version, secretEnds |-> secretEnds ]

-------------------------------------------------------------------------------
(* The windows. *)

\* code: lua/shared.lua | local window = math.floor(now / window_ms)
WindowOf(time) == time \div Window

EndOf(window) == (window + 1) * Window

\* Redis without the counters that have expired.
\* code: lua/charge.lua | string.format('%d', window_end + OUTLIVES_MS)
WithoutExpired(redis, now) ==
  LET live(window) == EndOf(window) + Outlives > now
      counters == redis.counters
      kept == {name \in DOMAIN counters : live(counters[name].window)}
  IN [redis EXCEPT
       !.counters = [name \in kept |-> counters[name]],
       !.ledger = IF live(@.window) THEN @ ELSE EmptyRedis.ledger]

\* The current window of a surface, and what the account and the key have used in it. Two counters, each with a window.
\* code: lua/shared.lua | if account_window == window + 1 or key_window == window + 1 then window = window + 1 end
\* code: lua/shared.lua | return window, account_window == window and account_used or 0, key_window == window and key_used or 0
CurrentOfCounters(redis, surface, key, now) ==
  LET none == [window |-> NoWindow, used |-> 0]
      account == Get(redis.counters, AccountName(surface), none)
      own == Get(redis.counters, KeyName(surface, key), none)
      next == WindowOf(now) + 1
      \* Without "only one window ahead" a counter of any later window would continue.
      later(counter) == counter.window > next /\ ~Has("only one window ahead")
      accountAhead == Has("account counter ahead") /\ (account.window = next \/ later(account))
      ownAhead == Has("key counter ahead") /\ (own.window = next \/ later(own))
      window == IF accountAhead THEN account.window ELSE IF ownAhead THEN own.window ELSE WindowOf(now)
      \* Without this protection a counter is only a number, and counts in whatever window it is read.
      counts(counter) == counter.window = window \/ ~Has("counters name their window")
  IN [ window  |-> window,
       account |-> IF counts(account) THEN account.used ELSE 0,
       key     |-> IF counts(own) THEN own.used ELSE 0 ]

\* The same for the ledger. A ledger one window ahead was charged before the clock stepped back: its window continues. A
\* ledger of any other window has ended. It counts nothing, and the next charge empties it.
CurrentOfLedger(redis, surface, key, now) ==
  LET next == WindowOf(now) + 1
      \* Without "only one window ahead" a ledger of any later window would continue.
      later == redis.ledger.window > next /\ ~Has("only one window ahead")
      ahead == Has("ledger ahead") /\ (redis.ledger.window = next \/ later)
      window == IF ahead THEN redis.ledger.window ELSE WindowOf(now)
      counts == IF redis.ledger.window = window \/ ~Has("ledger is emptied") THEN redis.ledger.counts ELSE <<>>
  IN [ window  |-> window,
       account |-> Get(counts, AccountName(surface), 0),
       key     |-> Get(counts, KeyName(surface, key), 0) ]

Current(redis, surface, key, now) ==
  IF Form = "ledger" THEN CurrentOfLedger(redis, surface, key, now) ELSE CurrentOfCounters(redis, surface, key, now)

\* Redis after a charge: the account and the key have used that much of the window.
\* code: lua/charge.lua | redis.call('SET', KEYS[1], string.format('%d:%d', window, account_used), 'PXAT', expires_at)
\* code: lua/charge.lua | redis.call('SET', KEYS[2], string.format('%d:%d', window, key_used), 'PXAT', expires_at)
Charged(redis, surface, key, window, accountUsed, keyUsed) ==
  LET account == AccountName(surface)
      own == KeyName(surface, key)
      kept == IF redis.ledger.window = window \/ ~Has("ledger is emptied") THEN redis.ledger.counts ELSE <<>>
  IN IF Form = "ledger"
     THEN [redis EXCEPT !.ledger = [window |-> window, counts |-> account :> accountUsed @@ own :> keyUsed @@ kept]]
     ELSE [redis EXCEPT !.counters =
            account :> [window |-> window, used |-> accountUsed] @@ own :> [window |-> window, used |-> keyUsed] @@ @]

-------------------------------------------------------------------------------
(* Whether the key may be used. *)

\* code: lua/shared.lua | if key_marker == 'revoked' then return 'revoked' end
\* code: lua/shared.lua | if account_marker then return 'suspended' end
\* code: lua/shared.lua | if key_marker and tonumber(key_marker) > account_version then return 'outdated' end
\* code: lua/shared.lua | if secret_ends_at > 0 and now >= secret_ends_at then return 'replaced' end
\* Standing "version" has no markers. If Redis knows no version of the account, or a newer one than the replica, the
\* replica must look the key up again.
KeyRefusal(redis, key, version, secretEnds, now) ==
  LET marker == Get(redis.markers, key, 0)
      outdated ==
        IF Standing = "version"
        THEN \/ Has("missing version") /\ redis.version = NoVersion
             \/ Has("version compared") /\ redis.version > version
        ELSE Has("version compared") /\ marker > version
  IN CASE Has("key marker") /\ marker = Revoked -> "revoked"
       [] Has("account marker") /\ redis.suspended -> "suspended"
       [] outdated -> "outdated"
       [] Has("end of a secret") /\ secretEnds > 0 /\ now >= secretEnds -> "replaced"
       [] OTHER -> "none"

-------------------------------------------------------------------------------
(* Grants. *)

\* code: lua/charge.lua | if expires_at > now then
LiveGrants(redis, surface, key, now) ==
  {g \in redis.grants : /\ g.key = key \/ ~Has("grant of one key")
                        /\ g.surface = surface
                        /\ g.expires > now \/ ~Has("grant expires")}

\* code: lua/charge.lua | if remaining >= cost and sooner then
Drawable(grants, cost) == {g \in grants : g.remaining >= cost}

\* code: lua/charge.lua | local sooner = not grant or expires_at < grant.expires_at or (expires_at == grant.expires_at and id < grant.id)
FirstToExpire(grants) ==
  CHOOSE g \in grants : \A h \in grants \ {g} : g.expires < h.expires \/ (g.expires = h.expires /\ g.id < h.id)

\* Places a grant in Redis, empty or full. A grant that is already there stays as it is.
\* code: src/limiter/grant-counters.ts | .hsetnx(key, grantId, `${amount}:${expiresAtMs}:${amount}`)
PlaceGrant(redis, grant) ==
  IF \E g \in redis.grants : g.id = grant.id /\ g.key = grant.key /\ g.surface = grant.surface THEN redis
  ELSE [redis EXCEPT !.grants = @ \cup {grant}]

\* Fills a grant that was placed empty, once. A missing grant stays missing.
\* code: lua/fill-grant.lua | if not value then return 0 end
\* code: lua/fill-grant.lua | local expires_at = string.match(value, '^0:(%d+):0$')
FillGrant(redis, id, surface, key, amount) ==
  LET same(g) == g.id = id /\ g.key = key /\ g.surface = surface
      fill(g) == IF same(g) /\ (g.amount = 0 \/ ~Has("grant is filled once"))
                 THEN [g EXCEPT !.remaining = amount, !.amount = amount] ELSE g
  IN [redis EXCEPT !.grants = {fill(g) : g \in @}]

\* code: src/limiter/grant-counters.ts | this.#redis.hdel(redisKeys.grants(caller, surface), grantId)
RemoveGrant(redis, id, surface, key) ==
  [redis EXCEPT !.grants = {g \in @ : ~(g.id = id /\ g.key = key /\ g.surface = surface)}]

-------------------------------------------------------------------------------
(* lua/charge.lua: decides one call, in one step. The result is the script's answer, the window of the decision, and Redis
   as the script leaves it (field "redis"). Every check comes before the first write. *)
Decide(stored, charge, now) ==
  LET redis == WithoutExpired(stored, now)
      current == Current(redis, charge.surface, charge.key, now)
      live == LiveGrants(redis, charge.surface, charge.key, now)
      drawable == Drawable(live, charge.cost)
      refusal == KeyRefusal(redis, charge.key, charge.version, charge.secretEnds, now)
      \* code: lua/charge.lua | local account_exhausted = account_used + cost > account_limit
      \* code: lua/charge.lua | if account_exhausted or key_used + cost > key_limit then
      accountExhausted == current.account + charge.cost > charge.accountLimit
      keyExhausted == current.key + charge.cost > charge.keyLimit
      exhausted == IF Has("both windows are checked") THEN accountExhausted \/ keyExhausted ELSE accountExhausted
      accountAfter == current.account + charge.cost
      keyAfter == current.key + charge.cost

      \* code: lua/charge.lua | return string.format('%s %d %d %d %d %d %d', verdict, account_remaining, key_remaining, reset, grant_remaining, now, grant_amount)
      Answer(verdict, after, account, key, drawn) ==
        [ verdict          |-> verdict,
          accountRemaining |-> Max(charge.accountLimit - account, 0),
          keyRemaining     |-> Max(charge.keyLimit - key, 0),
          reset            |-> EndOf(current.window) - now,
          grantRemaining   |-> IF live = {} THEN -1 ELSE Sum("remaining", live) - drawn,
          grantAmount      |-> IF live = {} THEN -1 ELSE Sum("amount", live),
          now              |-> now,
          window           |-> current.window,
          redis            |-> after ]
      Refused(verdict) == Answer(verdict, redis, current.account, current.key, 0)
  IN
  CASE \* code: lua/charge.lua | if deadline > 0 and now >= deadline then
       Has("deadline") /\ charge.deadline > 0 /\ now >= charge.deadline ->
         [ Refused("stale") EXCEPT !.accountRemaining = 0, !.keyRemaining = 0, !.reset = 0,
                                   !.grantRemaining = -1, !.grantAmount = -1 ]
    [] refusal # "none" -> Refused(refusal)
    [] drawable # {} /\ (exhausted \/ ~Has("grants only beyond a window")) ->
         \* code: lua/charge.lua | redis.call('HSET', KEYS[5], grant.id, value)
         LET grant == FirstToExpire(drawable)
             drawn == [grant EXCEPT !.remaining = @ - charge.cost]
         IN Answer("granted", [redis EXCEPT !.grants = (@ \ {grant}) \cup {drawn}], current.account, current.key, charge.cost)
    [] exhausted ->
         \* code: lua/charge.lua | if not grant then return answer(account_exhausted and 'account_exhausted' or 'key_exhausted') end
         LET accountFirst == IF Has("account first") THEN accountExhausted ELSE ~keyExhausted
             \* Without this protection the account is charged before the key is checked, as by two separate limiters.
             after == IF accountExhausted \/ Has("both or none") THEN redis
                      ELSE Charged(redis, charge.surface, charge.key, current.window, accountAfter, current.key)
         IN [Refused(IF accountFirst THEN "account_exhausted" ELSE "key_exhausted") EXCEPT !.redis = after]
    [] OTHER ->
         Answer("admitted",
                Charged(redis, charge.surface, charge.key, current.window, accountAfter, keyAfter),
                accountAfter, keyAfter, 0)

\* lua/usage.lua, for one surface: whether the key may be used, and what it has used. It changes nothing.
Usage(stored, surface, key, version, secretEnds, now) ==
  LET redis == WithoutExpired(stored, now)
      current == Current(redis, surface, key, now)
  IN [ refusal |-> KeyRefusal(redis, key, version, secretEnds, now),
       account |-> current.account,
       key     |-> current.key,
       reset   |-> EndOf(current.window) - now,
       grants  |-> {g \in redis.grants : g.key = key /\ g.surface = surface} ]

-------------------------------------------------------------------------------
(* Markers and versions. *)

\* Two commands may write the store in one order and reach Redis in the other. The older record changes nothing then.
\* code: lua/mark-key.lua | if stored and version and (stored == 'revoked' or (tonumber(stored) > version and not restored)) then return 0 end
MarkKey(redis, key, marker) ==
  LET stored == Get(redis.markers, key, 0)
      older == marker # Revoked /\ (stored = Revoked \/ stored > marker)
  IN IF Has("markers are never taken back") /\ older THEN redis ELSE [redis EXCEPT !.markers = key :> marker @@ @]

\* code: lua/mark-account.lua | if published and tonumber(published) > version and not restored then return 0 end
MarkAccount(redis, suspended, version) ==
  IF Has("markers are never taken back") /\ redis.statusOf > version THEN redis
  ELSE [redis EXCEPT !.suspended = suspended, !.statusOf = version]

\* Standing "version": the version is only ever raised, so that a look-up that comes late does not lower it.
RaiseVersion(redis, version) ==
  [redis EXCEPT !.version = IF Has("version only raised") THEN Max(@, version) ELSE version]
===============================================================================
