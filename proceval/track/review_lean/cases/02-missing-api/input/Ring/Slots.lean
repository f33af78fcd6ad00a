import Mathlib.Data.Nat.Defs
import Mathlib.Tactic.Linarith

/-!
# Slots of a ring buffer

A ring buffer has `ringSize` slots. A cursor is a slot together with the number of times the buffer was gone round.
-/

namespace Ring

/-- How many slots the buffer has: a prime near a page, so that strides are coprime to it. -/
def ringSize : ℕ := 4093

theorem ringSize_pos : 0 < ringSize := by decide

/-- A batch always fits: batches hold at most 1024 items. -/
theorem batch_lt_ringSize {n : ℕ} (h : n ≤ 1024) : n < ringSize := by
  unfold ringSize
  omega

/-- A place in the buffer. -/
structure Cursor where
  slot : ℕ
  lap : ℕ
  slot_lt : slot < ringSize

namespace Cursor

/-- The first slot of the first lap. -/
def origin : Cursor := ⟨0, 0, ringSize_pos⟩

@[simp] theorem origin_slot : origin.slot = 0 := rfl

@[simp] theorem origin_lap : origin.lap = 0 := rfl

/-- How many items were written before this place. -/
def written (c : Cursor) : ℕ := c.lap * ringSize + c.slot

theorem written_origin : origin.written = 0 := by
  simp [written]

/-- The place `n` slots further, for a batch of `n` items. -/
def advance (c : Cursor) (n : ℕ) : Cursor where
  slot := (c.slot + n) % ringSize
  lap := c.lap + (c.slot + n) / ringSize
  slot_lt := Nat.mod_lt _ ringSize_pos

@[simp] theorem advance_slot (c : Cursor) (n : ℕ) : (c.advance n).slot = (c.slot + n) % ringSize := rfl

@[simp] theorem advance_lap (c : Cursor) (n : ℕ) : (c.advance n).lap = c.lap + (c.slot + n) / ringSize := rfl

/-- From the origin a batch stays within the first lap. -/
theorem advance_origin_lap {n : ℕ} (h : n ≤ 1024) : (origin.advance n).lap = 0 := by
  have hn : n < ringSize := by
    unfold ringSize
    omega
  simp [Nat.div_eq_of_lt hn]

/-- From the origin a batch of `n` items ends in slot `n`. -/
theorem advance_origin_slot {n : ℕ} (h : n ≤ 1024) : (origin.advance n).slot = n := by
  have hn : n < ringSize := by
    unfold ringSize
    omega
  simp [Nat.mod_eq_of_lt hn]

/-- One batch never overtakes its own start. -/
theorem written_advance_lt (c : Cursor) {n : ℕ} (h : n ≤ 1024) :
    (c.advance n).written < c.written + ringSize := by
  have hw : (c.advance n).written = c.written + n := by
    have := Nat.div_add_mod (c.slot + n) ringSize
    simp only [written, advance_slot, advance_lap, Nat.add_mul]
    rw [Nat.mul_comm ((c.slot + n) / ringSize)]
    omega
  unfold ringSize at *
  omega

end Cursor

end Ring
