; A table made one slot too long. The reference has slots 0 .. n-1, the mutant also slot n; Python's index v means
; position v, or v + length where v is negative. The contract keeps every index in 0 .. n-1: ends of edges are
; vertices, and what is popped was a vertex when it was pushed. Slots hold anything (sort Slot). Unbounded in n.
(declare-sort Slot 0)
(declare-const n Int)
(declare-const v Int)
(assert (and (>= n 1) (<= 0 v) (< v n)))
(define-fun position ((index Int) (length Int)) Int (ite (>= index 0) index (+ index length)))
(declare-const table (Array Int Slot))
(declare-const longer (Array Int Slot))
(declare-const new Slot)
(assert (forall ((j Int)) (=> (and (<= 0 j) (< j n)) (= (select table j) (select longer j)))))
(push 1)
(assert (not (and (<= 0 (position v n)) (< (position v n) n) (< (position v (+ n 1)) (+ n 1)))))
; expect unsat: no index raises, in either table
(check-sat)
(pop 1)
(push 1)
(assert (not (= (select table (position v n)) (select longer (position v (+ n 1))))))
; expect unsat: every read gives the same
(check-sat)
(pop 1)
(push 1)
(declare-const j Int)
(assert (and (<= 0 j) (< j n)))
(assert (not (= (select (store table (position v n) new) j) (select (store longer (position v (+ n 1)) new) j))))
; expect unsat: every write keeps the two tables the same in 0 .. n-1
(check-sat)
(pop 1)
(push 1)
(declare-const w Int)
(assert (and (<= (- 1) w) (< w n)))
(assert (not (= (select table (position w n)) (select longer (position w (+ n 1))))))
; expect sat: an index of -1 would tell the tables apart
(check-sat)
(pop 1)
