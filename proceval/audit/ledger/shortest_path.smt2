; dag_shortest_path: with any order of taking ready vertices, and with `<` or `<=` when a way is compared, the
; weights at the end are the least weights, and every predecessor kept is one over which a least way goes. Where the
; shortest path to the target is unique, as the contract says, its vertices have one such predecessor each, so the
; path is the same. Unbounded in the graph and in the weights.
(declare-sort Vertex 0)
(declare-const source Vertex)
(declare-fun edge (Vertex Vertex) Bool)
(declare-fun weight (Vertex Vertex) Int)
(declare-fun rank (Vertex) Int)
(assert (forall ((x Vertex) (y Vertex)) (=> (edge x y) (and (>= (weight x y) 1) (< (rank x) (rank y))))))

; What is right: who can be reached, and the least weight; `best` is a predecessor on a least way.
(declare-fun reachable (Vertex) Bool)
(declare-fun least (Vertex) Int)
(declare-fun best (Vertex) Vertex)
(assert (and (reachable source) (= (least source) 0)))
(assert (forall ((x Vertex) (y Vertex)) (=> (and (reachable x) (edge x y)) (reachable y))))
(assert (forall ((y Vertex)) (=> (and (reachable y) (not (= y source)))
  (and (reachable (best y)) (edge (best y) y) (= (least y) (+ (least (best y)) (weight (best y) y)))))))
(assert (forall ((x Vertex) (y Vertex))
  (=> (and (reachable x) (edge x y)) (<= (least y) (+ (least x) (weight x y))))))

; The source has the lowest rank of all that it reaches, so no reachable vertex has an edge to it: the least
; counterexample by rank is not there.
(push 1)
(declare-const odd Vertex)
(assert (and (reachable odd) (< (rank odd) (rank source))))
(assert (forall ((x Vertex)) (=> (and (reachable x) (< (rank x) (rank source))) (<= (rank odd) (rank x)))))
; expect unsat: nothing reachable ranks below the source
(check-sat)
(pop 1)
(assert (forall ((x Vertex)) (=> (reachable x) (<= (rank source) (rank x)))))

; State between rounds. `known` and `distance` are the dictionary; `taken` were popped, `ready` wait. That a vertex
; is pushed when, and only when, its last entering edge was walked along is entering_counts.smt2.
(declare-fun known (Vertex) Bool)
(declare-fun distance (Vertex) Int)
(declare-fun previous (Vertex) Vertex)
(declare-fun taken (Vertex) Bool)
(declare-fun ready (Vertex) Bool)
(declare-const current Vertex)
(declare-fun walked (Vertex) Bool)
; Everything before the current vertex's edges; `current` itself counts as taken, its walked edges as walked.
(define-fun entered ((x Vertex) (y Vertex)) Bool
  (and (taken x) (=> (= x current) (walked y))))
(define-fun sound () Bool
  (and (known source) (= (distance source) 0)
       (forall ((y Vertex)) (=> (known y) (reachable y)))
       (forall ((y Vertex)) (=> (and (known y) (not (= y source)))
         (and (edge (previous y) y) (entered (previous y) y) (known (previous y))
              (= (distance y) (+ (distance (previous y)) (weight (previous y) y))))))))
(define-fun complete () Bool
  (forall ((x Vertex) (y Vertex)) (=> (and (edge x y) (entered x y) (known x))
    (and (known y) (<= (distance y) (+ (distance x) (weight x y)))))))
(define-fun orderly () Bool
  (and (forall ((x Vertex) (y Vertex)) (=> (and (edge x y) (or (ready y) (taken y))) (entered x y)))
       (forall ((y Vertex)) (=> (walked y) (edge current y)))))

(push 1)
(assert (forall ((x Vertex)) (and (= (known x) (= x source)) (not (taken x)) (= (walked x) (edge current x))
  (= (ready x) (not (exists ((y Vertex)) (edge y x)))))))
(assert (= (distance source) 0))
(assert (not (and sound complete orderly)))
; expect unsat: the invariant holds at the start
(check-sat)
(pop 1)

; One edge (current, next) is walked along. `through` beats what is known when it is less; whether it also beats its
; equal is the mutant's question, and `tie` leaves it open.
(push 1)
(declare-const next Vertex)
(declare-const tie Bool)
(declare-fun known2 (Vertex) Bool)
(declare-fun distance2 (Vertex) Int)
(declare-fun previous2 (Vertex) Vertex)
(declare-fun walked2 (Vertex) Bool)
(declare-fun ready2 (Vertex) Bool)
(assert (and sound complete orderly (taken current) (edge current next) (not (walked next))))
(define-fun through () Int (+ (distance current) (weight current next)))
(define-fun better () Bool (and (known current)
  (or (not (known next)) (< through (distance next)) (and tie (= through (distance next))))))
(assert (forall ((y Vertex)) (= (known2 y) (or (known y) (and better (= y next))))))
(assert (forall ((y Vertex)) (= (distance2 y) (ite (and better (= y next)) through (distance y)))))
(assert (forall ((y Vertex)) (= (previous2 y) (ite (and better (= y next)) current (previous y)))))
(assert (forall ((y Vertex)) (= (walked2 y) (or (walked y) (= y next)))))
(assert (forall ((y Vertex)) (= (ready2 y) (or (ready y)
  (and (= y next) (forall ((x Vertex)) (=> (edge x y) (and (taken x) (=> (= x current) (walked2 y))))))))))
(define-fun entered2 ((x Vertex) (y Vertex)) Bool (and (taken x) (=> (= x current) (walked2 y))))
(push 1)
(assert (or (taken next) (ready next)))
; expect unsat: a vertex with an edge still to walk neither waits nor was taken
(check-sat)
(pop 1)
(push 1)
(assert (not (known2 next)))
; expect open: that every walked edge makes its head known is false, and the assumptions do not prove it
(check-sat)
(pop 1)
(push 1)
(assert (not (and (known2 source) (= (distance2 source) 0) (forall ((y Vertex)) (=> (known2 y) (reachable y))))))
; expect unsat: the step keeps the source at 0 and reaches only what can be reached
(check-sat)
(pop 1)
(push 1)
(declare-const y Vertex)
(assert (and (known2 y) (not (= y source))))
(assert (not (and (edge (previous2 y) y) (entered2 (previous2 y) y) (known2 (previous2 y))
  (= (distance2 y) (+ (distance2 (previous2 y)) (weight (previous2 y) y))))))
; expect unsat: the step keeps every distance made by its predecessor
(check-sat)
(pop 1)
(push 1)
(declare-const x Vertex)
(declare-const y Vertex)
(assert (and (edge x y) (entered2 x y) (known2 x)))
(assert (not (and (known2 y) (<= (distance2 y) (+ (distance2 x) (weight x y))))))
; expect unsat: the step keeps every walked edge satisfied
(check-sat)
(pop 1)
(push 1)
(declare-const x Vertex)
(declare-const y Vertex)
(assert (and (edge x y) (or (ready2 y) (taken y))))
(assert (not (entered2 x y)))
; expect unsat: the step keeps every edge into a ready or taken vertex walked
(check-sat)
(pop 1)
(pop 1)

; The end of a round, or the start, and the choice of any ready vertex as the next current one. Between two rounds
; all edges out of the last current vertex are walked; at the start there is none, and `current` stands for any
; vertex. That a ready vertex was not taken before is entering_counts.smt2.
(push 1)
(declare-const chosen Vertex)
(declare-fun taken2 (Vertex) Bool)
(declare-fun ready2 (Vertex) Bool)
(assert (and sound complete orderly (ready chosen) (not (taken chosen))))
(assert (forall ((y Vertex)) (= (walked y) (edge current y))))
(assert (forall ((x Vertex)) (= (taken2 x) (or (taken x) (= x chosen)))))
(assert (forall ((x Vertex)) (= (ready2 x) (and (ready x) (not (= x chosen))))))
(define-fun entered3 ((x Vertex) (y Vertex)) Bool (and (taken2 x) (not (= x chosen))))
(push 1)
(declare-const y Vertex)
(assert (and (known y) (not (= y source))))
(assert (not (entered3 (previous y) y)))
; expect unsat: whichever ready vertex comes next, every predecessor's edge stays walked
(check-sat)
(pop 1)
(push 1)
(declare-const x Vertex)
(declare-const y Vertex)
(assert (and (edge x y) (entered3 x y) (known x)))
(assert (not (and (known y) (<= (distance y) (+ (distance x) (weight x y))))))
; expect unsat: whichever ready vertex comes next, every walked edge stays satisfied
(check-sat)
(pop 1)
(push 1)
(declare-const x Vertex)
(declare-const y Vertex)
(assert (and (edge x y) (or (ready2 y) (taken2 y))))
(assert (not (entered3 x y)))
; expect unsat: whichever ready vertex comes next, edges into ready and taken vertices stay walked
(check-sat)
(pop 1)
(pop 1)

; The end: nothing is ready. A vertex all of whose predecessors' edges were walked is ready or taken
; (entering_counts.smt2), so the lowest vertex not taken cannot exist.
(push 1)
(declare-const lowest Vertex)
(assert (forall ((x Vertex)) (not (ready x))))
(assert (forall ((y Vertex)) (=> (forall ((x Vertex)) (=> (edge x y) (taken x))) (or (ready y) (taken y)))))
(assert (not (taken lowest)))
(assert (forall ((x Vertex)) (=> (not (taken x)) (<= (rank lowest) (rank x)))))
; expect unsat: at the end every vertex was taken
(check-sat)
(pop 1)
(push 1)
(assert (and sound complete))
(assert (forall ((x Vertex) (y Vertex)) (=> (edge x y) (entered x y))))
(push 1)
(declare-const lowest Vertex)
(assert (not (= (known lowest) (reachable lowest))))
(assert (forall ((x Vertex)) (=> (< (rank x) (rank lowest)) (= (known x) (reachable x)))))
; expect unsat: at the end exactly the reachable vertices are known
(check-sat)
(pop 1)
(assert (forall ((x Vertex)) (= (known x) (reachable x))))
(push 1)
(declare-const lowest Vertex)
(assert (and (reachable lowest) (not (= (distance lowest) (least lowest)))))
(assert (forall ((x Vertex)) (=> (and (reachable x) (< (rank x) (rank lowest))) (= (distance x) (least x)))))
; expect unsat: at the end every distance is the least weight
(check-sat)
(pop 1)
(assert (forall ((x Vertex)) (=> (reachable x) (= (distance x) (least x)))))
(define-fun tight ((x Vertex) (y Vertex)) Bool
  (and (reachable x) (edge x y) (= (least y) (+ (least x) (weight x y)))))
(push 1)
(declare-const y Vertex)
(assert (and (reachable y) (not (= y source)) (not (tight (previous y) y))))
; expect unsat: at the end every predecessor lies on a least way
(check-sat)
(pop 1)
(push 1)
; Two runs, in different orders or with ties decided differently; on the unique shortest path a vertex has one tight
; predecessor, for two would make two shortest paths.
(declare-fun other (Vertex) Vertex)
(declare-fun on_path (Vertex) Bool)
(assert (forall ((y Vertex)) (=> (and (reachable y) (not (= y source))) (tight (other y) y))))
(assert (forall ((a Vertex) (b Vertex) (y Vertex)) (=> (and (on_path y) (tight a y) (tight b y)) (= a b))))
(declare-const y Vertex)
(assert (and (on_path y) (reachable y) (not (= y source)) (not (= (previous y) (other y)))))
; expect unsat: on the unique shortest path both runs keep the same predecessors
(check-sat)
(pop 1)
(push 1)
(declare-fun other (Vertex) Vertex)
(declare-const y Vertex)
(declare-const a Vertex)
(assert (forall ((z Vertex)) (=> (and (reachable z) (not (= z source))) (tight (other z) z))))
(assert (and (reachable y) (not (= y source)) (not (= (previous y) (other y)))))
(assert (forall ((z Vertex)) (or (= z source) (= z a) (= z y) (= z (previous y)))))
; expect sat: without a unique path, ties may keep another predecessor
(check-sat)
(pop 1)
(pop 1)
