; equilibrium_index: until the loop has come to the equilibrium, the left sum is smaller than the right one. n
; numbers; (before i) is the sum of the first i of them, so number j is before(j+1) - before(j), and every one is >
; 0. The contract gives one equilibrium k. Unbounded in n and in the numbers.
(declare-const n Int)
(declare-fun before (Int) Int)
(define-fun number ((j Int)) Int (- (before (+ j 1)) (before j)))
(assert (= (before 0) 0))
(assert (forall ((j Int)) (=> (and (<= 0 j) (< j n)) (> (number j) 0))))

; Prefix sums increase: by induction on the distance from i.
(declare-const i Int)
(declare-const j Int)
(push 1)
(assert (and (<= 0 i) (< i n) (not (< (before i) (before (+ i 1))))))
; expect unsat: prefix sums increase, one step
(check-sat)
(pop 1)
(push 1)
(assert (and (<= 0 i) (< i j) (< j n) (< (before i) (before j)) (not (< (before i) (before (+ j 1))))))
; expect unsat: prefix sums increase, one step further
(check-sat)
(pop 1)
(assert (forall ((x Int) (y Int)) (=> (and (<= 0 x) (< x y) (<= y n)) (< (before x) (before y)))))

(declare-const k Int)
(assert (and (<= 0 k) (< k n) (= (before k) (- (before n) (before (+ k 1))))))
(define-fun invariant ((index Int) (left Int) (right Int)) Bool
  (and (<= 0 index) (<= index k) (= left (before index)) (= right (- (before n) (before (+ index 1))))))
(declare-const index Int)
(declare-const left Int)
(declare-const right Int)
(push 1)
(assert (not (invariant 0 0 (- (before n) (number 0)))))
; expect unsat: the invariant holds at the start
(check-sat)
(pop 1)
(assert (invariant index left right))
(push 1)
(assert (not (= left right)))
(assert (not (invariant (+ index 1) (+ left (number index)) (- right (number (+ index 1))))))
; expect unsat: the loop keeps the invariant
(check-sat)
(pop 1)
(push 1)
(assert (not (= (not (= left right)) (< left right))))
; expect unsat: != and < agree wherever the loop's condition is asked
(check-sat)
(pop 1)
; expect sat: the assumptions do not contradict each other
(push 1)
(assert (and (= n 1) (= k 0) (= (before 1) 5) (= index 0)))
(check-sat)
(pop 1)
