import Mathlib.Algebra.Order.Group.Nat
import Mathlib.Data.List.Basic

/-!
# Running tallies

A tally counts ayes and noes. `Tally.ofVotes` folds a list of votes, and `Tally.carried` says when a motion is carried: by
more ayes than noes.

## Main statements

* `Tally.total_ofVotes`: every vote is counted once.
* `Tally.carried_add`: two bodies that carry a motion carry it together.
-/

/-- How many voted for a motion and how many against it. -/
structure Tally where
  /-- Votes for the motion. -/
  ayes : ℕ
  /-- Votes against the motion. -/
  noes : ℕ

namespace Tally

/-- Nobody has voted. -/
def empty : Tally := ⟨0, 0⟩

@[simp] theorem empty_ayes : empty.ayes = 0 := rfl

@[simp] theorem empty_noes : empty.noes = 0 := rfl

/-- One more vote, `true` for the motion. -/
def cast (t : Tally) (vote : Bool) : Tally :=
  if vote then { t with ayes := t.ayes + 1 } else { t with noes := t.noes + 1 }

@[simp] theorem cast_true (t : Tally) : t.cast true = ⟨t.ayes + 1, t.noes⟩ := rfl

@[simp] theorem cast_false (t : Tally) : t.cast false = ⟨t.ayes, t.noes + 1⟩ := rfl

/-- How many have voted. -/
def total (t : Tally) : ℕ := t.ayes + t.noes

theorem total_def (t : Tally) : t.total = t.ayes + t.noes := rfl

theorem total_cast (t : Tally) (vote : Bool) : (t.cast vote).total = t.total + 1 := by
  cases vote <;> simp [total] <;> omega

/-- The tally of a list of votes. -/
def ofVotes (votes : List Bool) : Tally := votes.foldl cast empty

theorem total_foldl (votes : List Bool) (t : Tally) :
    (votes.foldl cast t).total = t.total + votes.length := by
  induction votes generalizing t with
  | nil => simp
  | cons vote votes ih =>
    rw [List.foldl_cons, List.length_cons]
    show (votes.foldl cast (t.cast vote)).total = t.total + (votes.length + 1)
    rw [ih, total_cast]
    omega

/-- Every vote is counted once. -/
theorem total_ofVotes (votes : List Bool) : (ofVotes votes).total = votes.length := by
  rw [ofVotes, total_foldl]
  show empty.total + votes.length = votes.length
  simp [total]

/-- The tallies of two bodies together. -/
protected def add (s t : Tally) : Tally := ⟨s.ayes + t.ayes, s.noes + t.noes⟩

instance : Add Tally := ⟨Tally.add⟩

@[simp] theorem add_ayes (s t : Tally) : (s + t).ayes = s.ayes + t.ayes := rfl

@[simp] theorem add_noes (s t : Tally) : (s + t).noes = s.noes + t.noes := rfl

/-- More ayes than noes. -/
def carried (t : Tally) : Prop := t.noes < t.ayes

instance (t : Tally) : Decidable t.carried := Nat.decLt _ _

theorem carried_iff {t : Tally} : t.carried ↔ t.noes < t.ayes := Iff.rfl

theorem carried_add {s t : Tally} (hs : s.carried) (ht : t.carried) : (s + t).carried := by
  rw [carried_iff] at hs ht ⊢
  rw [add_noes, add_ayes]
  show s.noes + t.noes < s.ayes + t.ayes
  exact Nat.add_lt_add hs ht

end Tally
