import Mathlib.Data.ZMod.Basic
import Mathlib.Data.Nat.Prime.Basic
import Mathlib.Tactic.NormNum.Prime

/-!
# Packing octets into a prime field

Messages are cut into octets, four octets are packed into one element of the field with `mersenne31` elements, and the
verifier unpacks them again. This file holds the definitions; the round trip is proved in `Packing.RoundTrip`.
-/

namespace Packing

/-- The Mersenne prime `2 ^ 31 - 1`, the modulus of the field. -/
def mersenne31 : ℕ := 2147483647

instance mersenne31_fact : Fact (Nat.Prime mersenne31) := ⟨by norm_num [mersenne31]⟩

/-- Elements of the field that packed messages live in. -/
abbrev Elem := ZMod mersenne31

/-- Two to the thirty-first is one in the field. -/
theorem two_pow_31 : (2 : Elem) ^ 31 = 1 := by
  native_decide

/-- A natural number is an octet when it is below 256. -/
def IsOctet (n : ℕ) : Prop := n < 256

/-- A natural number is an octet when it is below 256. -/
def isOctetB (n : ℕ) : Bool := n < 256

theorem isOctet_add_one {n : ℕ} (h : IsOctet n) (hn : n ≠ 255) : IsOctet (n + 1) := by
  unfold IsOctet at *
  omega

theorem isOctetB_add_one {n : ℕ} (h : isOctetB n = true) (hn : n ≠ 255) : isOctetB (n + 1) = true := by
  simp only [isOctetB, decide_eq_true_eq] at *
  omega

/-- The octet that an element stands for. Elements that stand for no octet are sent to `0`; every lemma about `toOctet`
that needs more assumes `IsOctet x.val`. -/
def toOctet (x : Elem) : Fin 256 :=
  if h : x.val < 256 then ⟨x.val, h⟩ else 0

theorem toOctet_val {x : Elem} (h : IsOctet x.val) : (toOctet x : ℕ) = x.val := by
  unfold IsOctet at h
  simp [toOctet, h]

/-- Pack four octets, the least significant first. -/
def pack (a b c d : Fin 256) : Elem :=
  (a : ℕ) + 2 ^ 8 * (b : ℕ) + 2 ^ 16 * (c : ℕ) + 2 ^ 24 * (d : ℕ)

/-- Pack four octets, the least significant first. -/
def unpackLow (x : Elem) : Fin 256 :=
  toOctet ((x.val % 256 : ℕ) : Elem)

set_option maxRecDepth 4000 in
/-- The low octet of the largest element, by evaluation. -/
theorem unpackLow_largest : unpackLow ((mersenne31 - 1 : ℕ) : Elem) = 254 := by
  decide

end Packing
