; Counting the edges that still enter a vertex: the counts are never negative, so `== 0` and `<= 0` are the same
; question, when the counts are first read and after every decrement. Edges have a tail and a head; (entering s v)
; is the number of edges of the set s that end in v, of which the two facts below are all that is used. Unbounded.
; First reading: every count began at 0 and was only raised.
(declare-const count Int)
(push 1)
(assert (not (and (>= 0 0) (=> (>= count 0) (>= (+ count 1) 0)))))
; expect unsat: counts that start at 0 and are raised by 1 are not negative
(check-sat)
(pop 1)
(push 1)
(assert (>= count 0))
(assert (not (= (= count 0) (<= count 0))))
; expect unsat: == 0 and <= 0 agree on counts that are not negative
(check-sat)
(pop 1)
(push 1)
(assert (not (= (= count 0) (<= count 0))))
; expect sat: without the invariant the two questions differ
(check-sat)
(pop 1)

(declare-sort Vertex 0)
(declare-sort Edge 0)
(define-sort Edges () (Array Edge Bool))
(declare-fun tail (Edge) Vertex)
(declare-fun head (Edge) Vertex)
(declare-fun entering (Edges Vertex) Int)
(assert (forall ((s Edges) (v Vertex)) (! (>= (entering s v) 0) :pattern ((entering s v)))))
(assert (forall ((s Edges) (e Edge) (v Vertex))
  (! (=> (select s e) (= (entering (store s e false) v) (- (entering s v) (ite (= (head e) v) 1 0))))
     :pattern ((entering (store s e false) v)))))

; While vertices are taken: `remaining` are the edges that were not walked along yet. The invariant says that a
; count is the number of remaining edges into its vertex, that a vertex that waits or was taken has none, and that
; all edges out of a vertex that was not taken remain.
(declare-const remaining Edges)
(declare-fun counted (Vertex) Int)
(declare-fun waits (Vertex) Bool)
(declare-fun taken (Vertex) Bool)
(declare-const current Vertex)
(define-fun invariant () Bool
  (and (forall ((v Vertex)) (! (= (counted v) (entering remaining v)) :pattern ((counted v))))
       (forall ((v Vertex)) (! (=> (or (waits v) (taken v)) (= (counted v) 0)) :pattern ((counted v))))
       (forall ((v Vertex)) (! (not (and (waits v) (taken v))) :pattern ((waits v))))
       (forall ((e Edge)) (! (=> (not (taken (tail e))) (select remaining e)) :pattern ((select remaining e))))))
(declare-const walked Edge)
(assert invariant)
; The inner loop walks once along each edge out of the vertex just taken, so the edge remains when it comes to it.
(assert (and (taken current) (= (tail walked) current) (select remaining walked)))
(define-fun after () Edges (store remaining walked false))
(define-fun lowered () Int (- (counted (head walked)) 1))
(push 1)
(assert (not (= lowered (entering after (head walked)))))
; expect unsat: after the decrement the count is the number of remaining edges again
(check-sat)
(pop 1)
(push 1)
(assert (= (entering after (head walked)) lowered))
(assert (not (>= lowered 0)))
; expect unsat: after the decrement the count is not negative
(check-sat)
(pop 1)
(push 1)
(assert (= (entering after (head walked)) lowered))
(assert (not (= (= lowered 0) (<= lowered 0))))
; expect unsat: == 0 and <= 0 agree after the decrement
(check-sat)
(pop 1)
(push 1)
(assert (= (entering after (head walked)) lowered))
(assert (or (waits (head walked)) (taken (head walked))))
; expect unsat: the vertex whose count is lowered neither waits nor was taken, so it is pushed at most once
(check-sat)
(pop 1)
(push 1)
(declare-const other Vertex)
(assert (not (= other (head walked))))
(assert (not (= (entering after other) (entering remaining other))))
; expect unsat: no other count changes
(check-sat)
(pop 1)
