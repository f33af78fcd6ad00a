import Mathlib.Data.List.Basic
import Mathlib.Order.Basic
import Mathlib.Tactic.Linarith

/-!
# Levels of a pairing heap

Every tree of the heap has a level. Levels are positive, and a child's level is smaller than its parent's.
-/

namespace Levels

/-- A tree that remembers its level and has a list of children. -/
inductive Tree where
  | node (level : ℕ) (children : List Tree)

namespace Tree

/-- The level at the root, one more than what is stored. -/
def level : Tree → ℕ
  | node l _ => l + 1

/-- The children of the root. -/
def children : Tree → List Tree
  | node _ cs => cs

@[simp] theorem level_node (l : ℕ) (cs : List Tree) : (node l cs).level = l + 1 := rfl

@[simp] theorem children_node (l : ℕ) (cs : List Tree) : (node l cs).children = cs := rfl

theorem level_pos (t : Tree) : t.level > 0 := by
  cases t
  simp

/-- Children stand on lower levels. -/
def Ordered (t : Tree) : Prop := ∀ c ∈ t.children, t.level > c.level

theorem level_gt_of_mem {t c : Tree} (h : t.Ordered) (hc : c ∈ t.children) : t.level > c.level :=
  h c hc

theorem ordered_leaf (l : ℕ) : (node l []).Ordered := by
  simp [Ordered]

theorem level_ne_of_mem {t c : Tree} (h : t.Ordered) (hc : c ∈ t.children) : c.level ≠ t.level := by
  have hlt := level_gt_of_mem h hc
  rw [gt_iff_lt] at hlt
  exact ne_of_lt hlt

/-- A tree with an ordered child that has a child itself is on level three or above. -/
theorem two_lt_level {t c d : Tree} (ht : t.Ordered) (hc : c ∈ t.children) (h : c.Ordered)
    (hd : d ∈ c.children) : 2 < t.level := by
  have h₁ := level_gt_of_mem ht hc
  have h₂ := level_gt_of_mem h hd
  have h₃ := level_pos d
  omega

theorem children_append (l : ℕ) (as bs : List Tree) :
    (node l (as ++ bs)).children.length = as.length + bs.length := by
  simp

end Tree

end Levels
