"""The minimum-weight path between two vertices of a DAG."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random
from typing import Any

from proceval.domain.family import Base
from proceval.domain.graphs import canon, dag
from proceval.protocols import Instance, Truth
from proceval.schema import Json
from proceval.smt import Spec, Values, disj, integer

BRUTE_FORCE_VERTICES = 8
"""Up to here the oracle lists all paths; beyond, it relaxes edges and counts."""

LARGEST_RATE = 10**9
MOST_STOPS = 30
"""Inner vertices of a planted path, at most."""


def dag_shortest_path(n: int, edges: list[list[int]], source: int, target: int) -> dict[str, object]:
    """Find the path of least weight between two vertices of a weighted directed acyclic graph.

    `n` is the number of vertices, which are the integers 0 to n - 1. `edges` is a list of triples [u, v, w], each an
    edge from u to v of weight w, a strictly positive integer of any size; no two triples share both ends, the graph has
    no cycle, and neither the list nor the labels follow the direction of the edges. `source` and `target` are vertices;
    they may be the same. At least one path leads from the source to the target, and exactly one of them has the least
    total weight.

    Return a dict {"weight": w, "path": p}: w is that least weight as an int, p the list of the vertices on that path
    from the source to the target, both included. If source and target are the same vertex, w is 0 and p holds only it.

    A graph may have hundreds of vertices and very many paths, and each call has a CPU-time limit of a few seconds: a
    call that runs into it counts as wrong. Prefer a solution whose running time is about the number of vertices and
    edges.
    """
    successors: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    unseen = [0] * n
    for tail, head, weight in edges:
        successors[tail].append((head, weight))
        unseen[head] += 1
    distance = {source: 0}
    previous: dict[int, int] = {}
    ready = [vertex for vertex in range(n) if unseen[vertex] == 0]
    while ready:
        vertex = ready.pop()
        for head, weight in successors[vertex]:
            if vertex in distance:
                through = distance[vertex] + weight
                if head not in distance or through < distance[head]:
                    distance[head] = through
                    previous[head] = vertex
            unseen[head] -= 1
            if unseen[head] == 0:
                ready.append(head)
    path = [target]
    while path[-1] != source:
        path.append(previous[path[-1]])
    return {"weight": distance[target], "path": path[::-1]}


class DagShortestPath(Base[dag.Level]):
    """Weighted DAGs with planted rival paths.

    The specification is the linear programme's dual: potentials that climb no edge by more than its weight, and edges
    from source to target that they climb in full. All edges of all shortest paths are such edges and no others are, so
    a second shortest path is a second model.
    """

    domain = "graphs"
    version = 1
    logic = "QF_IDL"
    oracle_name = f"all_paths to {BRUTE_FORCE_VERTICES} vertices, then bellman_ford"
    solver = dag_shortest_path
    level = dag.Level
    source = "relaxation in topological order; its proof is the dual programme of potentials (Ford and Fulkerson, 1962)"

    def __init__(
        self,
        *,
        difficulty: Mapping[str, Any],
        vertices: Sequence[int] | None,
        density: float | None,
        largest_rate: int,
    ):
        super().__init__(difficulty=difficulty, own={"vertices": vertices, "density": density})
        self.largest_rate = self.counted("largest_rate", largest_rate, LARGEST_RATE)

    def sample(self, rng: Random, tier: str) -> Instance:
        level = self.levels[tier]
        n = rng.randint(*level.vertices)
        return _planted(rng, n, dag.drawn_density(rng, n, level.density), self.largest_rate)

    def validate(self, instance: Instance) -> None:
        self.fields(instance)
        dag.check_graph(instance["n"], instance["edges"], weighted=True)
        dag.check_vertex("source", instance["source"], instance["n"])
        dag.check_vertex("target", instance["target"], instance["n"])

    def specify(self, instance: Instance, spec: Spec) -> None:
        n, edges, source, target = (instance[key] for key in self.parameters)
        potential = [spec.int(f"potential_{v}") for v in range(n)]
        on_path = [spec.bool(f"on_path_{v}") for v in range(n)]
        chosen = [spec.bool(f"edge_{k}") for k in range(len(edges))]
        leaving: list[list[str]] = [[] for _ in range(n)]
        entering: list[list[str]] = [[] for _ in range(n)]
        spec.rule("source and target lie on the path", f"(and {on_path[source]} {on_path[target]})")
        for (tail, head, weight), edge in zip(edges, chosen, strict=True):
            climb = f"(- {potential[head]} {potential[tail]})"
            spec.rule("no edge climbs more than its weight", f"(<= {climb} {integer(weight)})")
            spec.rule("a chosen edge climbs its whole weight", f"(=> {edge} (>= {climb} {integer(weight)}))")
            spec.rule("a chosen edge joins vertices of the path", f"(=> {edge} (and {on_path[tail]} {on_path[head]}))")
            leaving[tail].append(edge)
            entering[head].append(edge)
        for v in range(n):
            if v != source:
                spec.rule("a chosen edge enters each vertex of the path", f"(=> {on_path[v]} {disj(entering[v])})")
            if v != target:
                spec.rule("a chosen edge leaves each vertex of the path", f"(=> {on_path[v]} {disj(leaving[v])})")
        spec.answer([*on_path, *chosen], lambda values: _follow(edges, chosen, values, source))
        spec.direct(
            "potentials",
            lambda answer, potential: tight(edges, source, target, answer, potential),
            lambda values: potentials(n, edges, source),
        )

    def oracle(self, instance: Instance) -> Truth:
        small = instance.get("n") in range(BRUTE_FORCE_VERTICES + 1)
        return self.verdict(instance, _all_paths if small else bellman_ford)

    def small(self) -> Iterator[Instance]:
        for n in (1, 2, 3):
            for edges in dag.all_dags(n):
                for weights in product((1, 2), repeat=len(edges)):
                    weighted = [[*edge, weight] for edge, weight in zip(edges, weights, strict=True)]
                    for source, target in product(range(n), repeat=2):
                        yield {"n": n, "edges": weighted, "source": source, "target": target}
        rng = Random(7)  # four vertices and weights of 1 and 2: many ties
        for _ in range(200):
            order = dag.shuffled(rng, 4)
            edges = [[*edge, rng.randint(1, 2)] for edge in dag.random_edges(rng, order, 0.8)]
            yield {"n": 4, "edges": edges, "source": order[0], "target": order[-1]}
        for edges in ([[0, 1, 0]], [[0, 1, -1]], [[0, 1]], [[0, 0, 1]], [[0, 1, 1], [1, 0, 1]], [[0, 1, 1], [0, 1, 2]]):
            yield {"n": 2, "edges": edges, "source": 0, "target": 1}
        yield {"n": 2, "edges": [[0, 1, 1]], "source": 0, "target": 2}
        yield {"n": 2, "edges": [[0, 1, 1]], "source": -1, "target": 1}

    def examples(self) -> Sequence[Instance]:
        edges = [[3, 0, 2], [0, 1, 5], [3, 1, 9], [1, 2, 4], [0, 2, 8]]
        return [
            {"n": 4, "edges": edges, "source": 3, "target": 1},
            {"n": 5, "edges": [[4, 2, 3], [2, 0, 3], [4, 0, 7], [1, 4, 1]], "source": 4, "target": 0},
            {"n": 2, "edges": [[1, 0, 6]], "source": 0, "target": 0},
        ]

    def targeted(self, rng: Random) -> Iterator[Instance]:
        for n, edges, source, target in (
            (1, [], 0, 0),
            (2, [[0, 1, 4]], 0, 1),
            (2, [[1, 0, 4]], 0, 0),
            (3, [[0, 1, 3], [1, 2, 3], [0, 2, 8]], 0, 2),
            (3, [[0, 2, 8], [0, 1, 9], [1, 2, 1]], 0, 2),
            (4, [[3, 1, 1], [0, 1, 5], [1, 2, 5], [0, 2, 11]], 0, 2),
            (5, [[0, 1, 1], [0, 2, 1], [1, 3, 1], [2, 3, 1], [0, 4, 2], [4, 3, 9]], 0, 4),
            (4, [[0, 1, 2**63], [1, 3, 2**63], [0, 2, 7], [2, 3, 7]], 0, 3),
        ):
            yield {"n": n, "edges": edges, "source": source, "target": target}
        n, plain = dag.layered(3, 20)  # code that walks every path must not end within the scorer's CPU limit
        heavy = [[u, v, 5] if (u - 1) % 3 or (v - 1) % 3 and v != n - 1 else [u, v, 3] for u, v in plain]
        yield {"n": n, "edges": heavy, "source": 0, "target": n - 1}
        found = 0
        while found < 40:
            n = rng.randint(2, 9)
            if rng.random() < 0.3:
                order, plain = dag.chain_with_shortcuts(rng, n, 0.4)
                edges = [[u, v, rng.randint(1, 30)] for u, v in plain]
                candidate = {"n": n, "edges": edges, "source": order[0], "target": order[-1]}
            else:
                candidate = _planted(rng, n, rng.choice((0.2, 0.5, 0.9)), 3)
            if self.oracle(candidate).status == "unique":
                found += 1
                yield candidate

    def canonical(self, instance: Instance, tier: str) -> Json:
        # A relabelled twin has the relabelled path: the same problem under other names.
        marks = {instance["source"]: 1}
        marks[instance["target"]] = marks.get(instance["target"], 0) + 2
        return canon.graph(instance["n"], instance["edges"], marks)

    def space(self, tier: str) -> int | None:
        return None


def _follow(edges: Sequence[Sequence[int]], chosen: Sequence[str], values: Values, source: int) -> Json:
    """The path that the chosen edges form, and its weight."""
    onward = {edge[0]: edge for edge, name in zip(edges, chosen, strict=True) if values[name] is True}
    path, total = [source], 0
    while path[-1] in onward:
        _, head, weight = onward[path[-1]]
        path.append(head)
        total += weight
    return {"weight": total, "path": path}


def _planted(rng: Random, n: int, density: float, largest_rate: int) -> Instance:
    """A random DAG with two rival paths, which may share edges, from an early to a late vertex.

    A weight grows with the stretch of the hidden order that its edge spans, so that fewest edges is no good guess.
    """
    order = dag.shuffled(rng, n)
    first = rng.randint(0, (n - 1) // 4)
    last = n - 1 - rng.randint(0, (n - 1) // 4)
    between = range(first + 1, last)
    pairs = {pair for pair in combinations(range(n), 2) if rng.random() < density}
    for _ in range(2 if last > first else 0):
        stops = sorted(rng.sample(between, rng.randint(0, min(len(between), MOST_STOPS))))
        pairs |= set(zip([first, *stops], [*stops, last], strict=True))
    edges = [[order[i], order[j], rng.randint(j - i, largest_rate * (j - i))] for i, j in sorted(pairs)]
    rng.shuffle(edges)
    return {"n": n, "edges": edges, "source": order[first], "target": order[last]}


def _all_paths(n: int, edges: list[list[int]], source: int, target: int) -> Truth:
    """Every path, listed."""
    paths: list[tuple[int, list[int]]] = []
    open_paths = [(0, [source])]
    while open_paths:
        total, path = open_paths.pop()
        if path[-1] == target:
            paths.append((total, path))
        open_paths += [(total + weight, [*path, head]) for tail, head, weight in edges if tail == path[-1]]
    if not paths:
        return Truth("infeasible")
    least = min(total for total, _ in paths)
    best = [path for total, path in paths if total == least]
    return Truth("unique", {"weight": least, "path": best[0]}) if len(best) == 1 else Truth("ambiguous")


def distances(edges: Sequence[Sequence[int]], source: int) -> dict[int, int]:
    """Relaxes the bare edge list until nothing improves (Bellman, 1958); unreached vertices are left out."""
    distance = {source: 0}
    improved = True
    while improved:
        improved = False
        for tail, head, weight in edges:
            if tail in distance and distance[tail] + weight < distance.get(head, distance[tail] + weight + 1):
                distance[head] = distance[tail] + weight
                improved = True
    return distance


def bellman_ford(n: int, edges: list[list[int]], source: int, target: int) -> Truth:
    """Walks back from the target along edges that the distances make tight."""
    distance = distances(edges, source)
    if target not in distance:
        return Truth("infeasible")
    path = [target]
    while path[-1] != source:
        tight = [u for u, v, w in edges if v == path[-1] and u in distance and distance[u] + w == distance[v]]
        if len(tight) > 1:
            return Truth("ambiguous")
        path.append(tight[0])
    return Truth("unique", {"weight": distance[target], "path": path[::-1]})


def potentials(n: int, edges: Sequence[Sequence[int]], source: int) -> list[int]:
    """Distances; vertices out of reach stand as high as the farthest, so that no edge out of them climbs."""
    distance = distances(edges, source)
    return [distance.get(v, max(distance.values())) for v in range(n)]


def tight(edges: Sequence[Sequence[int]], source: int, target: int, answer: Any, potential: Any) -> bool:
    """Potentials that climb no edge by more than its weight bound every path from below; one that climbs all its edges
    in full is lightest; and if just one such edge enters each of its vertices, walking back from the target finds no
    other."""
    if any(potential[v] - potential[u] > w for u, v, w in edges):
        return False
    into: dict[int, list[int]] = {}
    for u, v, w in edges:
        if potential[v] - potential[u] == w:
            into.setdefault(v, []).append(u)
    path, weight = answer["path"], answer["weight"]
    joined = all(into.get(v) == [u] for u, v in zip(path, path[1:], strict=False))
    return bool(joined and path[0] == source and path[-1] == target and weight == potential[target] - potential[source])
