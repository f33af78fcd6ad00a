"""The round in which Kahn's algorithm, smallest label first, removes a vertex of a DAG."""

import heapq
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from random import Random
from typing import Any

from proceval.domain.family import Base
from proceval.domain.graphs import dag
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec, disj

BRUTE_FORCE_VERTICES = 5
"""Up to here the oracle compares all orders; beyond, it removes vertices one by one."""

COUNTED_VERTICES = 12
"""Up to here spaces are counted; beyond, nobody runs out of them."""

TRIES = 50
"""Draws in search of a vertex whose round does not follow from its label alone."""


def dag_topological_position(n: int, edges: list[list[int]], vertex: int) -> int:
    """Find the round in which a vertex leaves a directed acyclic graph that is taken apart smallest label first.

    `n` is the number of vertices, which are the integers 0 to n - 1. `edges` is a list of pairs [u, v], each an edge
    from u to v; no pair stands twice, the graph has no cycle, and neither the list nor the labels follow the direction
    of the edges. `vertex` is a vertex.

    The graph is taken apart in rounds 1, 2, 3, ...: in every round, among the vertices that no edge enters any more,
    the single one with the smallest label (compared as a number) is removed together with all edges that leave it.

    Return, as an int, the number of the round in which `vertex` is removed: 1 for the first round, at most n.

    A graph may have hundreds of vertices, and each call has a CPU-time limit of a few seconds: a call that runs into it
    counts as wrong. Prefer a solution whose running time is about the number of vertices and edges times a logarithm.
    """
    successors: list[list[int]] = [[] for _ in range(n)]
    entering = [0] * n
    for tail, head in edges:
        successors[tail].append(head)
        entering[head] += 1
    free = [label for label in range(n) if entering[label] == 0]
    heapq.heapify(free)
    position = 1
    while free[0] != vertex:
        position += 1
        for head in successors[heapq.heappop(free)]:
            entering[head] -= 1
            if entering[head] == 0:
                heapq.heappush(free, head)
    return position


class DagTopologicalPosition(Base[dag.Level]):
    """DAGs with a planted round; the rules allow one schedule, and the answer is one of its numbers."""

    domain = "graphs"
    version = 1
    logic = "QF_IDL"
    oracle_name = f"least_order to {BRUTE_FORCE_VERTICES} vertices, then removal_rounds"
    imports = "import heapq\n\n\n"
    solver = dag_topological_position
    level = dag.Level
    source = "removal of sources (Kahn, 1962), smallest label first"

    def __init__(self, *, difficulty: Mapping[str, Any], vertices: Sequence[int] | None, density: float | None):
        super().__init__(difficulty=difficulty, own={"vertices": vertices, "density": density})

    def sample(self, rng: Random, tier: str) -> Instance:
        level = self.levels[tier]
        low, high = level.vertices
        position = rng.randint(1, high)
        n = rng.randint(max(low, position), high)
        as_it_falls = rng.random() < 0.25
        for _ in range(TRIES):
            edges = dag.random_dag(rng, n, dag.drawn_density(rng, n, level.density))
            vertex = removal_order(n, edges)[position - 1]
            if as_it_falls or vertex != position - 1:
                break
        return {"n": n, "edges": edges, "vertex": vertex}

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        dag.check_graph(instance["n"], instance["edges"])
        dag.check_vertex("vertex", instance["vertex"], instance["n"])

    def specify(self, instance: Instance, spec: Spec) -> None:
        n, edges, vertex = (instance[key] for key in self.parameters)
        rounds = [spec.int(f"round_{v}") for v in range(n)]
        before: list[list[str]] = [[] for _ in range(n)]
        for v in range(n):
            spec.rule("every vertex has a round in 1..n", f"(and (<= 1 {rounds[v]}) (<= {rounds[v]} {n}))")
        for tail, head in edges:
            spec.rule("an edge's tail goes first", f"(< {rounds[tail]} {rounds[head]})")
            before[head].append(rounds[tail])
        for small in range(n):
            for large in range(small + 1, n):
                # The larger label may only go first while something still holds the smaller one back.
                held = [f"(>= {tail} {rounds[large]})" for tail in before[small]]
                first = f"(< {rounds[small]} {rounds[large]})"
                spec.rule("a larger label goes first only if the smaller is not free", disj([first, *held]))
        spec.answer(rounds, lambda values: values[rounds[vertex]])
        spec.direct(
            "schedule",
            lambda answer, schedule: scheduled(n, edges, vertex, answer, schedule),
            lambda values: [values[name] for name in rounds],
        )

    def oracle(self, instance: Instance) -> Truth:
        small = instance.get("n") in range(BRUTE_FORCE_VERTICES + 1)
        return self.verdict(instance, _least_order if small else _by_rounds)

    def small(self) -> Iterator[Instance]:
        yield {"n": 0, "edges": [], "vertex": 0}
        for n in (1, 2):
            for edges in dag.all_digraphs(n):
                yield from ({"n": n, "edges": edges, "vertex": vertex} for vertex in range(-1, n + 1))
        for edges in dag.all_dags(3):
            yield from ({"n": 3, "edges": edges, "vertex": vertex} for vertex in range(3))
        for edges in list(dag.all_dags(4))[::4]:
            yield from ({"n": 4, "edges": edges, "vertex": vertex} for vertex in range(4))
        yield {"n": 3, "edges": [[0, 1], [0, 1]], "vertex": 0}
        yield {"n": 3, "edges": [[0, 1], [1, 2], [2, 0]], "vertex": 0}

    def examples(self) -> Sequence[Instance]:
        return [
            {"n": 4, "edges": [[3, 0], [1, 2]], "vertex": 0},
            {"n": 5, "edges": [[4, 1], [1, 0], [2, 3]], "vertex": 3},
        ]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for n, edges, vertex in (
            (1, [], 0),
            (2, [[1, 0]], 0),
            (2, [[0, 1]], 1),
            (2, [], 1),
            (6, [[0, 4], [5, 1]], 1),
            (7, [[6, 0], [0, 5], [5, 1], [1, 4], [4, 2], [2, 3]], 3),
            (12, [[11, 2]], 10),
            (30, [[v, v - 1] for v in range(1, 30)], 0),
        ):
            yield {"n": n, "edges": edges, "vertex": vertex}
        n, edges = dag.layered(3, 6)
        yield {"n": n, "edges": edges, "vertex": n - 1}
        for _ in range(40):
            n = rng.randint(2, 9)
            if rng.random() < 0.3:
                order, edges = dag.chain_with_shortcuts(rng, n, 0.3)
                yield {"n": n, "edges": edges, "vertex": rng.choice((order[0], order[n // 2], order[-1]))}
            else:
                yield {"n": n, "edges": dag.random_dag(rng, n, rng.choice((0.2, 0.4, 0.7))), "vertex": rng.randrange(n)}

    def canonical(self, instance: Instance, tier: str) -> Json:
        # The labels are part of the question here: only the sequence of the edge list is without meaning.
        return [instance["n"], sorted(instance["edges"]), instance["vertex"]]

    def space(self, tier: str) -> int | None:
        low, high = self.levels[tier].vertices
        return sum(n * dag.count_dags(n) for n in range(low, high + 1)) if high <= COUNTED_VERTICES else None


def removal_order(n: int, edges: Sequence[Sequence[int]]) -> list[int]:
    """The vertices in the order of their removal, each found by looking at all that are left."""
    left, order = set(range(n)), []
    pending = [set[int]() for _ in range(n)]
    for tail, head in edges:
        pending[head].add(tail)
    while left:
        gone = min(v for v in left if not pending[v] & left)
        left.remove(gone)
        order.append(gone)
    return order


def _by_rounds(n: int, edges: list[list[int]], vertex: int) -> Truth:
    return Truth("unique", removal_order(n, edges).index(vertex) + 1)


def _least_order(n: int, edges: list[list[int]], vertex: int) -> Truth:
    """Smallest label first gives the lexicographically least of all topological orders."""
    for order in permutations(range(n)):  # in lexicographic sequence
        place = {v: k for k, v in enumerate(order)}
        if all(place[tail] < place[head] for tail, head in edges):
            return Truth("unique", place[vertex] + 1)
    raise AssertionError("a graph without cycles has a topological order")


def scheduled(n: int, edges: Sequence[Sequence[int]], vertex: int, answer: Any, round_of: Any) -> bool:
    """The round of every vertex, such that each round removes a free vertex while all smaller labels left are held back:
    the rule leaves no other choice in any round, so there is no other schedule."""
    if sorted(round_of) != list(range(1, n + 1)) or any(round_of[tail] >= round_of[head] for tail, head in edges):
        return False
    freed = [0] * n  # the round after which no edge enters the vertex any more
    for tail, head in edges:
        freed[head] = max(freed[head], round_of[tail])
    kept = all(round_of[u] < round_of[v] or freed[u] >= round_of[v] for v in range(n) for u in range(v))
    return kept and bool(round_of[vertex] == answer)
