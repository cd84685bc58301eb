-------------------------------- MODULE Hold --------------------------------
(***************************************************************************)
(* One candidate that is due: the sweep and a client want to erase it,     *)
(* while other clients set a hold, lift it, and change something else.     *)
(* Whoever was told that the hold is set must find the candidate there     *)
(* until it is lifted. Feed.tla explains the notation.                     *)
(***************************************************************************)
EXTENDS Integers

CONSTANTS
  Erasers,      \* Who erases: the sweep of retention, and clients.
  Patches,      \* How many changes clients make.
  Protections   \* What is in force. A mutant is a run that lacks one of them.

VARIABLES
  row,          \* What is stored: its version, whether it is held, whether it is erased.
  step,         \* What each eraser does next.
  seen,         \* The row that each eraser has read, and will replace.
  patch,        \* The change under way, and the row that it is based on.
  made,         \* How many changes were begun.
  promised      \* Whether a client was told that the hold is set, and nobody has asked since to lift it.

vars == <<row, step, seen, patch, made, promised>>

Has(protection) == protection \in Protections

Start == [v |-> 1, held |-> FALSE, del |-> FALSE]
NoPatch == [kind |-> "none", seen |-> Start]

Init ==
  /\ row = Start
  /\ step = [e \in Erasers |-> "look"]
  /\ seen = [e \in Erasers |-> Start]
  /\ patch = NoPatch
  /\ made = 0
  /\ promised = FALSE

\* A replacement names the version that it replaces.
\* code: src/candidates/store.ts | return { replaceOne: { filter: { _id, account, version: before.version }, replacement: document } };
Applies(before) == IF Has("compare-and-set") THEN row.v = before.v ELSE ~row.del

\* Reads, and checks what was read. After a lost race it reads and checks again. A mutant checks once, before it reads what it
\* replaces.
\* code: src/candidates/store.ts | check(found);
\* code: src/candidates/eraser.ts | if (isHeld === true && options.despiteHolds !== true) throw onHold(id);
Look(e) ==
  /\ step[e] = "look"
  /\ step' = [step EXCEPT ![e] = IF row.del \/ row.held THEN "over" ELSE IF Has("check-in-write") THEN "write" ELSE "read"]
  /\ seen' = [seen EXCEPT ![e] = row]
  /\ UNCHANGED <<row, patch, made, promised>>

Read(e) ==
  /\ step[e] = "read"
  /\ step' = [step EXCEPT ![e] = IF row.del THEN "over" ELSE "write"]
  /\ seen' = [seen EXCEPT ![e] = row]
  /\ UNCHANGED <<row, patch, made, promised>>

Erase(e) ==
  /\ step[e] = "write"
  /\ IF Applies(seen[e])
     THEN /\ row' = [v |-> row.v + 1, held |-> FALSE, del |-> TRUE]
          /\ step' = [step EXCEPT ![e] = "over"]
     ELSE /\ step' = [step EXCEPT ![e] = IF Has("check-in-write") THEN "look" ELSE "read"]
          /\ UNCHANGED row
  /\ UNCHANGED <<seen, patch, made, promised>>

\* A client begins a change. Whoever asks to lift the hold no longer relies on it.
BeginPatch(kind) ==
  /\ patch.kind = "none" /\ made < Patches /\ ~row.del
  /\ patch' = [kind |-> kind, seen |-> row]
  /\ made' = made + 1
  /\ promised' = (promised /\ kind /= "lift")
  /\ UNCHANGED <<row, step, seen>>

\* It is written, and answered with 200; or it is begun again; or it is refused, because the candidate is gone.
EndPatch ==
  /\ patch.kind /= "none"
  /\ IF Applies(patch.seen) /\ ~row.del
     THEN LET held == IF patch.kind = "set" THEN TRUE ELSE IF patch.kind = "lift" THEN FALSE ELSE patch.seen.held
          IN /\ row' = [v |-> row.v + 1, held |-> held, del |-> FALSE]
             /\ promised' = (promised \/ patch.kind = "set")
             /\ patch' = NoPatch
     ELSE /\ patch' = IF row.del THEN NoPatch ELSE [patch EXCEPT !.seen = row]
          /\ UNCHANGED <<row, promised>>
  /\ UNCHANGED <<step, seen, made>>

Next ==
  \/ \E e \in Erasers : Look(e) \/ Read(e) \/ Erase(e)
  \/ \E kind \in {"set", "lift", "other"} : BeginPatch(kind)
  \/ EndPatch

-----------------------------------------------------------------------------
HeldStays == promised => ~row.del

\* Violated on purpose: the model reaches what it is about.
NeverErased == ~row.del
NeverRaced == ~\E e \in Erasers : step[e] = "write" /\ row.held
=============================================================================
