; Counting the edges that still enter a vertex: the counts are never negative, so `== 0` and `<= 0` are the same
; question, when the counts are first read and after every decrement. Edges have a tail and a head; (entering s v) is
; the number of edges of the set s that end in v, of which the facts asserted below are all that is used. Unbounded.
(declare-const count Int)
(push 1)
(assert (>= count 0))
(assert (not (= (= count 0) (<= count 0))))
; expect unsat: == 0 and <= 0 agree on counts that are not negative
(check-sat)
(pop 1)
(push 1)
(assert (not (= (= count 0) (<= count 0))))
; expect sat: on any count the two questions differ
(check-sat)
(pop 1)

(declare-sort Vertex 0)
(declare-sort Edge 0)
(define-sort Edges () (Array Edge Bool))
(declare-fun tail (Edge) Vertex)
(declare-fun head (Edge) Vertex)
(declare-fun entering (Edges Vertex) Int)
(declare-fun counted (Vertex) Int)
(declare-const walked Edge)
(declare-const v Vertex)

; First reading: the counts are those of the edges seen so far, none at first, one more with each edge.
(push 1)
(declare-const seen Edges)
(assert (>= (entering seen v) 0))
(assert (not (select seen walked)))
(assert (= (entering (store seen walked true) v) (+ (entering seen v) (ite (= (head walked) v) 1 0))))
(assert (= (counted v) (entering seen v)))
(push 1)
(assert (not (= (entering (store seen walked true) v) (ite (= (head walked) v) (+ (counted v) 1) (counted v)))))
; expect unsat: raising the count of the head keeps every count the number of edges seen
(check-sat)
(pop 1)
(push 1)
(assert (not (>= (counted v) 0)))
; expect unsat: the counts are not negative when they are first read
(check-sat)
(pop 1)
(pop 1)

; While vertices are taken: `remaining` are the edges that were not walked along yet.
(assert (forall ((s Edges) (x Vertex)) (! (>= (entering s x) 0) :pattern ((entering s x)))))
(assert (forall ((s Edges) (e Edge) (x Vertex))
  (! (=> (select s e) (= (entering (store s e false) x) (- (entering s x) (ite (= (head e) x) 1 0))))
     :pattern ((entering (store s e false) x)))))
(declare-const remaining Edges)
(declare-fun waits (Vertex) Bool)
(declare-fun taken (Vertex) Bool)
(declare-const current Vertex)
; A count is the number of remaining edges; it is 0 for exactly the vertices that wait or were taken; none does both.
(define-fun zero_or_more () Bool (forall ((x Vertex)) (! (= (counted x) (entering remaining x)) :pattern ((counted x)))))
(define-fun zero_waits () Bool
  (forall ((x Vertex)) (! (= (= (counted x) 0) (or (waits x) (taken x))) :pattern ((counted x)))))
(define-fun apart () Bool (forall ((x Vertex)) (! (not (and (waits x) (taken x))) :pattern ((waits x)))))
; All edges out of a vertex that was not taken remain; of those out of taken ones, only the current vertex's can.
(define-fun unwalked () Bool
  (forall ((e Edge)) (! (and (=> (not (taken (tail e))) (select remaining e))
                             (=> (and (select remaining e) (taken (tail e))) (= (tail e) current)))
                        :pattern ((select remaining e)))))

(push 1)
(assert (and zero_or_more (forall ((x Vertex)) (not (taken x))) (forall ((x Vertex)) (= (waits x) (= (counted x) 0)))))
(assert (forall ((e Edge)) (select remaining e)))
(assert (not (and zero_waits apart unwalked)))
; expect unsat: the invariant holds at the start, when the vertices with count 0 wait and all edges remain
(check-sat)
(pop 1)

; Taking a waiting vertex, whichever: all its edges remain, and nothing of the invariant is lost.
(push 1)
(declare-const chosen Vertex)
(declare-const some Edge)
(declare-const other Vertex)
(define-fun taken_after ((x Vertex)) Bool (or (taken x) (= x chosen)))
(define-fun waits_after ((x Vertex)) Bool (and (waits x) (not (= x chosen))))
(assert (and zero_or_more zero_waits apart unwalked (waits chosen)))
; Between two rounds no edge of a taken vertex remains.
(assert (forall ((e Edge)) (! (=> (select remaining e) (not (taken (tail e)))) :pattern ((select remaining e)))))
(push 1)
(assert (not (and (not (taken chosen)) (=> (= (tail some) chosen) (select remaining some)))))
; expect unsat: a vertex that is taken was not taken before, and all its edges remain
(check-sat)
(pop 1)
(push 1)
(assert (not (taken chosen)))
; expect open: that a vertex is taken twice is false, and the assumptions do not prove it
(check-sat)
(pop 1)
(push 1)
(assert (not (and (= (= (counted other) 0) (or (waits_after other) (taken_after other)))
                  (not (and (waits_after other) (taken_after other)))
                  (=> (not (taken_after (tail some))) (select remaining some))
                  (=> (and (select remaining some) (taken_after (tail some))) (= (tail some) chosen)))))
; expect unsat: taking a vertex keeps the invariant
(check-sat)
(pop 1)
(pop 1)

; Walking along one remaining edge of the current vertex; the inner loop comes to each of its edges once.
(assert (and zero_or_more zero_waits apart unwalked))
(assert (and (taken current) (= (tail walked) current) (select remaining walked)))
(define-fun after () Edges (store remaining walked false))
(define-fun lowered () Int (- (counted (head walked)) 1))
(push 1)
(assert (not (= lowered (entering after (head walked)))))
; expect unsat: after the decrement the count is the number of remaining edges again
(check-sat)
(pop 1)
(assert (= (entering after (head walked)) lowered))
(push 1)
(assert (not (>= lowered 0)))
; expect unsat: after the decrement the count is not negative
(check-sat)
(pop 1)
(push 1)
(assert (not (= (= lowered 0) (<= lowered 0))))
; expect unsat: == 0 and <= 0 agree after the decrement
(check-sat)
(pop 1)
(push 1)
(assert (not (>= lowered 1)))
; expect open: that the count stays positive is false, and the assumptions do not prove it
(check-sat)
(pop 1)
(push 1)
(assert (or (waits (head walked)) (taken (head walked))))
; expect unsat: the vertex whose count is lowered neither waits nor was taken, so it is pushed at most once
(check-sat)
(pop 1)
(push 1)
(declare-const other Vertex)
(declare-const some Edge)
(define-fun counted_after ((x Vertex)) Int (ite (= x (head walked)) lowered (counted x)))
(define-fun waits_after ((x Vertex)) Bool (or (waits x) (and (= x (head walked)) (= lowered 0))))
(push 1)
(assert (not (= (counted_after other) (entering after other))))
; expect unsat: every other count stays the number of its remaining edges
(check-sat)
(pop 1)
(push 1)
(assert (not (and (= (= (counted_after other) 0) (or (waits_after other) (taken other)))
                  (not (and (waits_after other) (taken other))))))
; expect unsat: exactly the vertices with count 0 wait or were taken, and none does both
(check-sat)
(pop 1)
(push 1)
(assert (not (and (=> (not (taken (tail some))) (select after some))
                  (=> (and (select after some) (taken (tail some))) (= (tail some) current)))))
; expect unsat: walking along an edge of the current vertex keeps what is said of the other edges
(check-sat)
(pop 1)
(pop 1)
