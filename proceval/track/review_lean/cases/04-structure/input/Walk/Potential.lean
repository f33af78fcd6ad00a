import Mathlib.Algebra.BigOperators.Basic
import Mathlib.Data.Finset.Basic
import Mathlib.Data.Int.Order.Basic
import Mathlib.Tactic

set_option maxHeartbeats 1000000
set_option linter.unusedVariables false

/-!
# Potentials along walks

A potential on the vertices of a weighted graph proves that a walk is no shorter than the difference at its ends.
-/

namespace Walk

open Finset

/-- What an edge costs above the difference of the potential at its ends. -/
def slack (w : ℕ → ℕ → ℤ) (p : ℕ → ℤ) (u v : ℕ) : ℤ := w u v + p u - p v

/-- The length of the walk `v 0, v 1, ..., v n`. -/
def length (w : ℕ → ℕ → ℤ) (v : ℕ → ℕ) (n : ℕ) : ℤ := ∑ i ∈ range n, w (v i) (v (i + 1))

theorem length_zero (w : ℕ → ℕ → ℤ) (v : ℕ → ℕ) : length w v 0 = 0 := by
  simp only [length, range_zero, sum_empty]

theorem length_succ (w : ℕ → ℕ → ℤ) (v : ℕ → ℕ) (n : ℕ) :
    length w v (n + 1) = length w v n + w (v n) (v (n + 1)) := by
  simp only [length, sum_range_succ, add_left_inj, add_right_inj, eq_self_iff_true, and_self, forall_const]

theorem slack_nonneg_iff (w : ℕ → ℕ → ℤ) (p : ℕ → ℤ) (u v : ℕ) :
    0 ≤ slack w p u v ↔ p v ≤ w u v + p u := by
  constructor
  intro h
  unfold slack at h
  linarith
  intro h
  unfold slack
  linarith

theorem le_length_of_slack_nonneg (w : ℕ → ℕ → ℤ) (p : ℕ → ℤ) (v : ℕ → ℕ) (n : ℕ)
    (h : ∀ i, 0 ≤ slack w p (v i) (v (i + 1))) : p (v n) - p (v 0) ≤ length w v n := by
  induction n with
  | zero => simp [length]
  | succ n ih =>
    simp [length_succ]
    have hn := h n
    rw [slack_nonneg_iff] at hn
    linarith

theorem slack_add_slack (w : ℕ → ℕ → ℤ) (p : ℕ → ℤ) (u v x : ℕ) :
    slack w p u v + slack w p v x = w u v + w v x + p u - p x := by
  show w u v + p u - p v + (w v x + p v - p x) = w u v + w v x + p u - p x
  ring

end Walk
