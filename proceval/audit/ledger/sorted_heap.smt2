; dag_topological_position: the list of free vertices is a heap before heapify is called, so leaving the call out
; changes nothing that heappop, heappush and the first element show. (item j) for 0 <= j < m is the list. Unbounded
; in m.
(declare-const m Int)
(declare-fun item (Int) Int)
(define-fun rising ((length Int)) Bool
  (forall ((i Int) (j Int)) (=> (and (<= 0 i) (< i j) (< j length)) (< (item i) (item j)))))
(assert (>= m 0))
; The comprehension goes through range(n) upwards: what it appends is larger than all that it appended before.
(declare-const label Int)
(push 1)
(assert (rising m))
(assert (forall ((i Int)) (=> (and (<= 0 i) (< i m)) (< (item i) label))))
(assert (= (item m) label))
(assert (not (rising (+ m 1))))
; expect unsat: appending a larger label keeps the list rising
(check-sat)
(pop 1)
(assert (rising m))
(declare-const i Int)
(push 1)
(assert (and (<= 0 i) (< i m)))
(assert (not (and (=> (< (+ (* 2 i) 1) m) (<= (item i) (item (+ (* 2 i) 1))))
                  (=> (< (+ (* 2 i) 2) m) (<= (item i) (item (+ (* 2 i) 2)))))))
; expect unsat: a rising list is a heap
(check-sat)
(pop 1)
(push 1)
(assert (and (<= 0 i) (< i m) (not (<= (item 0) (item i)))))
; expect unsat: its first element is the smallest
(check-sat)
(pop 1)
(push 1)
(assert (and (= m 2) (= (item 0) 3) (= (item 1) 4)))
; expect sat: the assumptions do not contradict each other
(check-sat)
(pop 1)
