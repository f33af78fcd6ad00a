; A search that takes any waiting vertex next, first, last or other, ends with the same set: the vertices that a
; path leads to from the start. A vertex is whatever is pushed: a vertex of a DAG, or a pair of states. Unbounded.
(declare-sort Vertex 0)
(declare-fun edge (Vertex Vertex) Bool)
(declare-const start Vertex)
(declare-fun reachable (Vertex) Bool)
(assert (reachable start))
(assert (forall ((x Vertex) (y Vertex)) (=> (and (reachable x) (edge x y)) (reachable y))))

; Between two rounds of the outer loop.
(declare-fun reached (Vertex) Bool)
(declare-fun waiting (Vertex) Bool)
; Inside a round: `current` was popped, `looked` are those of its successors that the inner loop has been through.
(declare-const current Vertex)
(declare-fun looked (Vertex) Bool)
(declare-const next Vertex)
(define-fun inside () Bool
  (and (reached start) (reached current) (not (waiting current))
       (forall ((x Vertex)) (=> (reached x) (reachable x)))
       (forall ((x Vertex)) (=> (waiting x) (reached x)))
       (forall ((y Vertex)) (=> (looked y) (and (edge current y) (reached y))))
       (forall ((x Vertex) (y Vertex))
         (=> (and (reached x) (not (waiting x)) (not (= x current)) (edge x y)) (reached y)))))
(define-fun outside () Bool
  (and (reached start)
       (forall ((x Vertex)) (=> (reached x) (reachable x)))
       (forall ((x Vertex)) (=> (waiting x) (reached x)))
       (forall ((x Vertex) (y Vertex)) (=> (and (reached x) (not (waiting x)) (edge x y)) (reached y)))))

(push 1)
(assert (forall ((x Vertex)) (and (= (reached x) (= x start)) (= (waiting x) (= x start)))))
(assert (not outside))
; expect unsat: the outer invariant holds at the start
(check-sat)
(pop 1)

; Popping any waiting vertex enters the inner loop with nothing looked at.
(push 1)
(declare-fun left (Vertex) Bool)
(assert outside)
(assert (waiting current))
(assert (forall ((x Vertex)) (= (left x) (and (waiting x) (not (= x current))))))
(assert (forall ((x Vertex)) (not (looked x))))
(assert (not (and (reached start) (reached current) (not (left current))
  (forall ((x Vertex)) (=> (reached x) (reachable x)))
  (forall ((x Vertex)) (=> (left x) (reached x)))
  (forall ((x Vertex) (y Vertex))
    (=> (and (reached x) (not (left x)) (not (= x current)) (edge x y)) (reached y))))))
; expect unsat: whichever waiting vertex is popped, the inner invariant holds
(check-sat)
(pop 1)

; One step of the inner loop: a successor that is new is reached and waits, one that is not new changes nothing.
(push 1)
(declare-fun reached2 (Vertex) Bool)
(declare-fun waiting2 (Vertex) Bool)
(assert inside)
(assert (edge current next))
(assert (forall ((x Vertex)) (= (reached2 x) (or (reached x) (= x next)))))
(assert (forall ((x Vertex)) (= (waiting2 x) (or (waiting x) (and (= x next) (not (reached next)))))))
(push 1)
(assert (not (and (reached2 start) (reached2 current) (not (waiting2 current)) (reached2 next)
  (forall ((x Vertex)) (=> (reached2 x) (reachable x)))
  (forall ((x Vertex)) (=> (waiting2 x) (reached2 x)))
  (forall ((y Vertex)) (=> (looked y) (reached2 y)))
  (forall ((x Vertex) (y Vertex))
    (=> (and (reached2 x) (not (waiting2 x)) (not (= x current)) (edge x y)) (reached2 y))))))
; expect unsat: the inner loop keeps the inner invariant
(check-sat)
(pop 1)
(push 1)
(assert (not (waiting2 next)))
; expect open: that every successor waits is false, and the assumptions do not prove it
(check-sat)
(pop 1)
(push 1)
(assert (not (reached next)))
(assert (waiting next))
; expect unsat: what is pushed was not waiting, so the list never holds a vertex twice and is a set
(check-sat)
(pop 1)
(pop 1)

(push 1)
(assert inside)
(assert (forall ((y Vertex)) (= (looked y) (edge current y))))
(assert (not outside))
; expect unsat: the end of the inner loop gives the outer invariant back
(check-sat)
(pop 1)

; At the end nothing waits. `reachable` is the least set with the two properties asserted above, so it lies inside
; any other set that has them; `reached` has them.
(push 1)
(assert outside)
(assert (forall ((x Vertex)) (not (waiting x))))
(assert (not (and (reached start) (forall ((x Vertex) (y Vertex)) (=> (and (reached x) (edge x y)) (reached y))))))
; expect unsat: at the end the reached set is closed and holds the start
(check-sat)
(pop 1)
(push 1)
(assert outside)
(assert (forall ((x Vertex)) (not (waiting x))))
(assert (=> (and (reached start) (forall ((x Vertex) (y Vertex)) (=> (and (reached x) (edge x y)) (reached y))))
            (forall ((x Vertex)) (=> (reachable x) (reached x)))))
(assert (not (forall ((x Vertex)) (= (reached x) (reachable x)))))
; expect unsat: at the end exactly the reachable vertices are reached, in whichever order they were popped
(check-sat)
(pop 1)

(push 1)
(declare-const other Vertex)
(assert (not (= start other)))
(assert (edge start other))
(assert (forall ((x Vertex)) (and (= (reached x) (= x start)) (not (waiting x)))))
(assert (not outside))
; expect sat: a search that drops a vertex without looking at its successors breaks the invariant
(check-sat)
(pop 1)
