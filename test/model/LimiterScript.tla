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

   A comment "code: FILE | TEXT" names the line of code that a definition mirrors. A test checks that FILE exists. *)
EXTENDS Integers, FiniteSets, TLC

CONSTANTS
  Window,      \* the length of a window
  Outlives,    \* how long the ledger is kept after the end of its window, at least
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
(* What Redis holds of one account. All of it is in one hash slot. Each script names one key: either the ledger or the grants
   of one key for one surface. So Redis runs it also while a Cluster moves the slot. *)

\* The names of what is counted. All surfaces of an account are counted apart.
\* code: src/limiter/scripts.ts | account: (surface: Surface) => surface,
\* code: src/limiter/scripts.ts | key: (keyId: string, surface: Surface) => `${surface}:${keyId.replace(/^key_/, "")}`,
AccountName(surface) == <<surface>>
KeyName(surface, key) == <<surface, key>>

\* Versions of the account's record begin with 1. 0: Redis knows none.
NoVersion == 0
NoWindow == -1

\* What a charge says if its version is not to be checked.
\* code: src/limiter/scripts.ts | accountVersion ?? "",
AnyVersion == 2000000000

\* The ledger and the version are one hash in Redis. Here they are two members, and each ends by itself.
EmptyRedis ==
  [ ledger  |-> [window |-> NoWindow, counts |-> <<>>],   \* what was used in one window: name -> used
    version |-> NoVersion,  \* the newest version of the account's record that Redis knows
    grants  |-> {} ]        \* records [id, key, surface, remaining, amount, expires]. Ids are numbers in the order of the ids.

\* One call of lua/charge.lua. cost, limits: in requests. deadline: 0 for none. secretEnds: 0 for never.
NewCharge(surface, key, accountLimit, keyLimit, cost, deadline, version, secretEnds) ==
  [ surface |-> surface, key |-> key, accountLimit |-> accountLimit, keyLimit |-> keyLimit, cost |-> cost,
    deadline |-> deadline, version |-> version, secretEnds |-> secretEnds ]

-------------------------------------------------------------------------------
(* The windows. *)

\* code: lua/shared.lua | local window = (seconds - seconds % window_seconds) / window_seconds
WindowOf(time) == time \div Window

EndOf(window) == (window + 1) * Window

\* Redis without the ledger, if it has expired. In Redis it expires later still, by up to a quarter of an hour.
\* code: lua/charge.lua | local expires_at = (window + 1) * window_seconds * 1000 + OUTLIVES_MS + time[2] / 1000000 * SPREAD_MS
WithoutExpired(redis, now) ==
  [redis EXCEPT !.ledger = IF EndOf(@.window) + Outlives > now THEN @ ELSE EmptyRedis.ledger]

\* The current window, and what the account and the key have used in it. A ledger one window ahead was charged before the
\* clock stepped back: its window continues. A ledger of any other window has ended. It counts nothing, and the next charge
\* empties it.
\* code: lua/shared.lua | if ledger_window == window + 1 then window = ledger_window end
\* code: lua/shared.lua | local is_current = ledger_window == window
\* code: lua/charge.lua | if is_current then account_used, key_used = stored[3] or '0', stored[4] or '0' end
\* code: lua/usage.lua | used[#used + 1] = is_current and (stored[i - 1] or 0) + 0 or 0
Current(redis, surface, key, now) ==
  LET next == WindowOf(now) + 1
      \* Without "only one window ahead" a ledger of any later window would continue.
      later == redis.ledger.window > next /\ ~Has("only one window ahead")
      ahead == Has("ledger ahead") /\ (redis.ledger.window = next \/ later)
      window == IF ahead THEN redis.ledger.window ELSE WindowOf(now)
      counts == IF redis.ledger.window = window \/ ~Has("ledger is emptied") THEN redis.ledger.counts ELSE <<>>
  IN [ window  |-> window,
       account |-> Get(counts, AccountName(surface), 0),
       key     |-> Get(counts, KeyName(surface, key), 0) ]

\* Redis after a charge: the account and the key have used that much of the window. The first charge of a window empties the
\* ledger, but keeps the version.
\* code: lua/charge.lua | call('HSET', ledger, account_field, account_after, key_field, key_after)
\* code: lua/charge.lua | call('DEL', ledger)
\* code: lua/charge.lua | call('HSET', ledger, 'window', window_text, account_field, account_after, key_field, key_after)
\* code: lua/charge.lua | if version then call('HSET', ledger, 'version', version) end
Charged(redis, surface, key, window, accountUsed, keyUsed) ==
  LET first == redis.ledger.window # window
      kept == IF first /\ Has("ledger is emptied") THEN <<>> ELSE redis.ledger.counts
      counts == AccountName(surface) :> accountUsed @@ KeyName(surface, key) :> keyUsed @@ kept
  IN [redis EXCEPT
       !.ledger = [window |-> window, counts |-> counts],
       !.version = IF first /\ ~Has("version outlives the window") THEN NoVersion ELSE @]

-------------------------------------------------------------------------------
(* Whether the key may be used. *)

\* If Redis knows no version of the account, or a newer one than the replica, the replica must look the key up again.
\* code: lua/shared.lua | if version ~= account_version and account_version ~= '' and (not version or version - account_version > 0) then
\* code: lua/shared.lua | elseif (secret_ends_at or '0') ~= '0' and now >= secret_ends_at + 0 then
KeyRefusal(redis, version, secretEnds, now) ==
  LET missing == Has("missing version") /\ redis.version = NoVersion
      newer == Has("version compared") /\ redis.version > version
  IN CASE version # AnyVersion /\ (missing \/ newer) -> "outdated"
       [] Has("end of a secret") /\ secretEnds > 0 /\ now >= secretEnds -> "replaced"
       [] OTHER -> "none"

-------------------------------------------------------------------------------
(* Grants. *)

\* code: lua/draw-grant.lua | if expires_at > now then
LiveGrants(redis, surface, key, now) ==
  {g \in redis.grants : /\ g.key = key \/ ~Has("grant of one key")
                        /\ g.surface = surface
                        /\ g.expires > now \/ ~Has("grant expires")}

\* code: lua/draw-grant.lua | if remaining >= cost and sooner then
Drawable(grants, cost) == {g \in grants : g.remaining >= cost}

\* code: lua/draw-grant.lua | local sooner = not grant or expires_at < grant.expires_at or (expires_at == grant.expires_at and id < grant.id)
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

\* The grants of a key for a surface, live or not, as a replica lists them to show them.
\* code: src/limiter/grant-counters.ts | this.#redis.hgetall(redisKeys.grants(caller, surface))
ListedGrants(redis, surface, key) == {g \in redis.grants : g.key = key /\ g.surface = surface}

-------------------------------------------------------------------------------
(* lua/charge.lua: decides one call, in one step. The result is the script's answer as the replica reads it, and Redis as the
   script leaves it (field "redis"). Every check comes before the first write. *)
Decide(stored, charge, now) ==
  LET redis == WithoutExpired(stored, now)
      current == Current(redis, charge.surface, charge.key, now)
      refusal == KeyRefusal(redis, charge.version, charge.secretEnds, now)
      \* code: lua/charge.lua | local account_after, key_after = account_used + cost, key_used + cost
      accountAfter == current.account + charge.cost
      keyAfter == current.key + charge.cost
      \* code: lua/charge.lua | elseif account_after > account_limit + 0 then
      \* code: lua/charge.lua | elseif key_after > key_limit + 0 then
      accountExhausted == accountAfter > charge.accountLimit
      keyExhausted == keyAfter > charge.keyLimit
      exhausted == IF Has("both windows are checked") THEN accountExhausted \/ keyExhausted ELSE accountExhausted

      \* code: lua/charge.lua | return verdict .. ' ' .. account_used .. ' ' .. key_used .. ' ' .. window_text .. ' ' .. time[1] .. ' ' .. time[2]
      Answer(verdict, after, account, key) ==
        [verdict |-> verdict, accountUsed |-> account, keyUsed |-> key, window |-> current.window, now |-> now, redis |-> after]
      Refused(verdict) == Answer(verdict, redis, current.account, current.key)
  IN
  CASE \* code: lua/charge.lua | if deadline > 0 and now >= deadline then
       \* code: lua/charge.lua | return 'stale 0 0 0 ' .. time[1] .. ' ' .. time[2]
       Has("deadline") /\ charge.deadline > 0 /\ now >= charge.deadline ->
         [verdict |-> "stale", accountUsed |-> 0, keyUsed |-> 0, window |-> 0, now |-> now, redis |-> redis]
    [] refusal # "none" -> Refused(refusal)
    [] exhausted ->
         \* code: lua/charge.lua | verdict = 'account_exhausted'
         \* code: lua/charge.lua | verdict = 'key_exhausted'
         LET accountFirst == IF Has("account first") THEN accountExhausted ELSE ~keyExhausted
             \* Without this protection the account is charged before the key is checked, as by two separate limiters.
             after == IF accountExhausted \/ Has("both or none") THEN redis
                      ELSE Charged(redis, charge.surface, charge.key, current.window, accountAfter, current.key)
         IN [Refused(IF accountFirst THEN "account_exhausted" ELSE "key_exhausted") EXCEPT !.redis = after]
    [] OTHER ->
         \* code: src/limiter/scripts.ts | const charged = verdict === "admitted" ? cost : 0;
         Answer("admitted",
                Charged(redis, charge.surface, charge.key, current.window, accountAfter, keyAfter),
                accountAfter, keyAfter)

(* lua/draw-grant.lua: draws a request on the grants of its key, after a charge was answered that a window is exhausted. *)
Draw(redis, surface, key, cost, deadline, now) ==
  LET live == LiveGrants(redis, surface, key, now)
      drawable == Drawable(live, cost)
      Answer(outcome, after, drawn) ==
        [ outcome        |-> outcome,
          grantRemaining |-> IF live = {} THEN -1 ELSE Sum("remaining", live) - drawn,
          grantAmount    |-> IF live = {} THEN -1 ELSE Sum("amount", live),
          redis          |-> after ]
  IN
  CASE \* code: lua/draw-grant.lua | if deadline > 0 and now >= deadline then return 'stale -1 -1 ' .. time[1] .. ' ' .. time[2] end
       deadline > 0 /\ now >= deadline ->
         [outcome |-> "stale", grantRemaining |-> -1, grantAmount |-> -1, redis |-> redis]
    [] drawable # {} ->
         \* code: lua/draw-grant.lua | redis.call('HSET', KEYS[1], grant.id, value)
         LET grant == FirstToExpire(drawable)
             drawn == [grant EXCEPT !.remaining = @ - cost]
         IN Answer("drawn", [redis EXCEPT !.grants = (@ \ {grant}) \cup {drawn}], cost)
    [] OTHER -> Answer("none", redis, 0)

\* lua/usage.lua, for one surface: whether the key may be used, and what it has used. It changes nothing.
\* code: lua/usage.lua | return { now, refusal or '', (window + 1) * window_seconds * 1000 - now, used }
Usage(stored, surface, key, version, secretEnds, now) ==
  LET redis == WithoutExpired(stored, now)
      current == Current(redis, surface, key, now)
  IN [ refusal |-> KeyRefusal(redis, version, secretEnds, now),
       account |-> current.account,
       key     |-> current.key,
       reset   |-> EndOf(current.window) - now ]

-------------------------------------------------------------------------------
(* lua/raise-version.lua: tells Redis a version of the account's record. *)

\* The version is only ever raised: a look-up that comes late, or a command that another one overtook, does not lower it.
\* `over`: lower the version if it is this one, because the store was restored from a backup; 0 for none.
\* code: lua/raise-version.lua | if known > version and known ~= over then return known end
\* code: lua/raise-version.lua | redis.call('HSET', KEYS[1], 'version', ARGV[1])
RaiseVersion(redis, version, over) ==
  IF redis.version > version /\ redis.version # over /\ Has("version only raised") THEN redis
  ELSE [redis EXCEPT !.version = version]
===============================================================================
