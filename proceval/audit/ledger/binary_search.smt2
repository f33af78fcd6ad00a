; monotonic_split: low <= high at the head of the loop, so `low < high` and `low != high` are the same question. n
; numbers; (number j) for 0 <= j < n. Unbounded in n and in the numbers; the order of the numbers plays no part.
(declare-const n Int)
(declare-const target Int)
(declare-fun number (Int) Int)
(assert (>= n 1))
(define-fun invariant ((low Int) (high Int)) Bool (and (<= 0 low) (<= low high) (<= high n)))
(declare-const low Int)
(declare-const high Int)
(define-fun middle () Int (div (+ low high) 2))
(push 1)
(assert (not (invariant 0 n)))
; expect unsat: the invariant holds at the start
(check-sat)
(pop 1)
(assert (invariant low high))
(push 1)
(assert (and (< low high) (>= (number middle) target) (not (invariant low middle))))
; expect unsat: moving high keeps the invariant
(check-sat)
(pop 1)
(push 1)
(assert (and (< low high) (< (number middle) target) (not (invariant (+ middle 1) high))))
; expect unsat: moving low keeps the invariant
(check-sat)
(pop 1)
(push 1)
(assert (not (= (< low high) (not (= low high)))))
; expect unsat: < and != agree wherever the loop's condition is asked
(check-sat)
(pop 1)
(push 1)
(assert (not (= (< low high) (<= low high))))
; expect sat: the same obligation fails for <=, which tests can kill
(check-sat)
(pop 1)
