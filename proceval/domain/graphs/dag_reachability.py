"""How many vertices of a DAG can be reached from a source."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from random import Random
from typing import Any

from proceval.domain.family import Base
from proceval.domain.graphs import canon, dag
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec


def dag_reachability(n: int, edges: list[list[int]], source: int) -> int:
    """Count the vertices of a directed acyclic graph that can be reached from a source.

    `n` is the number of vertices, which are the integers 0 to n - 1. `edges` is a list of pairs [u, v], each an edge
    from u to v; no pair stands twice, the graph has no cycle, and neither the list nor the labels follow the direction
    of the edges. `source` is a vertex.

    Return, as an int, the number of vertices v for which a path of zero or more edges leads from the source to v; the
    source itself therefore counts.

    A graph may have hundreds of vertices, and each call has a CPU-time limit of a few seconds: a call that runs into it
    counts as wrong. Prefer a solution whose running time is about the number of vertices and edges.
    """
    successors: list[list[int]] = [[] for _ in range(n)]
    for tail, head in edges:
        successors[tail].append(head)
    reached = {source}
    waiting = [source]
    while waiting:
        for vertex in successors[waiting.pop()]:
            if vertex not in reached:
                reached.add(vertex)
                waiting.append(vertex)
    return len(reached)


class DagReachability(Base[dag.Level]):
    """DAGs with a planted number of reachable vertices; the proved answer is the set itself, the count its size."""

    domain = "graphs"
    version = 1
    logic = "QF_UF"
    oracle_name = "closure_rounds"
    solver = dag_reachability
    level = dag.Level
    source = "graph search (Tarjan, 1972)"

    def __init__(self, *, difficulty: Mapping[str, Any], vertices: Sequence[int] | None, density: float | None):
        super().__init__(difficulty=difficulty, own={"vertices": vertices, "density": density})

    def sample(self, rng: Random, tier: str) -> Instance:
        level = self.levels[tier]
        low, high = level.vertices
        count = rng.randint(1, high)
        n = rng.randint(max(low, count), high)
        return _planted(rng, n, count, dag.drawn_density(rng, n, level.density))

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        dag.check_graph(instance["n"], instance["edges"])
        dag.check_vertex("source", instance["source"], instance["n"])

    def specify(self, instance: Instance, spec: Spec) -> None:
        reached = [spec.bool(f"reached_{v}") for v in range(instance["n"])]
        spec.rule("the source is reached", reached[instance["source"]])
        for tail, head in instance["edges"]:
            spec.rule("what follows a reached vertex is reached", f"(=> {reached[tail]} {reached[head]})")
        spec.least(reached, lambda values: sum(values[name] is True for name in reached))

    def oracle(self, instance: Instance) -> Truth:
        return self.verdict(instance, _closure)

    def small(self) -> Iterator[Instance]:
        yield {"n": 0, "edges": [], "source": 0}
        for n in (1, 2):
            for edges in dag.all_digraphs(n):
                yield from ({"n": n, "edges": edges, "source": source} for source in range(-1, n + 1))
        for edges in dag.all_dags(3):
            yield from ({"n": 3, "edges": edges, "source": source} for source in range(3))
        yield {"n": 3, "edges": [[0, 1], [0, 1]], "source": 0}
        yield {"n": 3, "edges": [[0, 1], [1, 2], [2, 0]], "source": 0}
        yield {"n": 4, "edges": [[0, 1], [2, 3], [3, 2]], "source": 0}

    def examples(self) -> Sequence[Instance]:
        return [
            {"n": 5, "edges": [[0, 3], [3, 1], [4, 0], [2, 1]], "source": 0},
            {"n": 4, "edges": [[1, 0], [2, 0], [3, 2]], "source": 0},
        ]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for n, edges, source in ((1, [], 0), (2, [[1, 0]], 0), (2, [[0, 1]], 0), (2, [], 1), (3, [[0, 1], [1, 2]], 0)):
            yield {"n": n, "edges": edges, "source": source}
        n, edges = dag.layered(3, 20)  # code that walks every path must not end within the scorer's CPU limit
        yield {"n": n, "edges": edges, "source": 0}
        yield {"n": 300, "edges": [[v, v - 1] for v in range(1, 300)], "source": 299}
        for _ in range(40):
            n = rng.randint(2, 9)
            if rng.random() < 0.4:
                order, edges = dag.chain_with_shortcuts(rng, n, 0.3)
                yield {"n": n, "edges": edges, "source": rng.choice((order[0], order[n // 2], order[-1]))}
            else:
                yield _planted(rng, n, rng.randint(1, n), rng.choice((0.2, 0.5, 0.9)))

    def canonical(self, instance: Instance, tier: str) -> Json:
        return canon.graph(instance["n"], instance["edges"], {instance["source"]: 1})

    def space(self, tier: str) -> int | None:
        low, high = self.levels[tier].vertices
        return _count_rooted(low, high) if high <= 4 else None


def _planted(rng: Random, n: int, count: int, density: float) -> Instance:
    """A random DAG in which exactly `count` of n vertices can be reached: every rooted DAG can come up."""
    order = dag.shuffled(rng, n)
    places = sorted(rng.sample(range(n), count))
    inside = set(places)
    edges = {(rng.choice(places[:k]), place) for k, place in enumerate(places) if k}
    for pair in combinations(range(n), 2):
        leaves_the_set = pair[0] in inside and pair[1] not in inside
        if not leaves_the_set and rng.random() < density:
            edges.add(pair)
    listed = [[order[i], order[j]] for i, j in sorted(edges)]
    rng.shuffle(listed)
    return {"n": n, "edges": listed, "source": order[places[0]]}


def _count_rooted(low: int, high: int) -> int:
    """Rooted DAGs with low..high vertices up to relabelling, counted one by one."""
    return sum(len({repr(canon.graph(n, edges, {0: 1})) for edges in dag.all_dags(n)}) for n in range(low, high + 1))


def _closure(n: int, edges: list[list[int]], source: int) -> Truth:
    """All edges over and over until nothing new is reached: no adjacency lists, no search order."""
    reached = {source}
    while grown := {head for tail, head in edges if tail in reached} - reached:
        reached |= grown
    return Truth("unique", len(reached))
