"""Directed acyclic graphs: sizes, the check of an instance, random edges and small exhaustive sets."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from math import comb
from random import Random
from typing import Annotated

from pydantic import Field

from proceval.domain import family
from proceval.domain.family import is_integer
from proceval.errors import Malformed
from proceval.protocols import Instance
from proceval.schema import Json

SMALL = 8
"""Vertices up to which spaces are small enough to run out of."""


class Level(family.Level):
    """Sizes of one tier."""

    vertices: Annotated[
        family.Range,
        family.span(2, 2_000),
        Field(description="two integers [low, high] with 2 <= low <= high <= 2000"),
    ]
    density: Annotated[float, Field(gt=0, le=1, strict=True, description="a number above 0 and at most 1")]
    """Chance of each edge that the family is free to draw; planted edges come on top."""

    def sizes(self, instance: Instance) -> dict[str, list[int]]:
        return {"vertices": [instance["n"]]}


def check_graph(n: Json, edges: Json, *, weighted: bool = False) -> None:
    """Raises Malformed unless the edges are a set over 0..n-1 without cycles, and weights are positive integers."""
    if not is_integer(n, 1):
        raise Malformed("n must be a positive integer")
    if not isinstance(edges, list):
        raise Malformed("edges must be a list")
    size = 3 if weighted else 2
    for edge in edges:
        if not isinstance(edge, list) or len(edge) != size or not all(is_integer(end, 0, n - 1) for end in edge[:2]):
            raise Malformed(f"an edge must be a list of {size} integers whose ends lie in 0..n-1")
        if weighted and not is_integer(edge[2], 1):
            raise Malformed("a weight must be a positive integer")
    if len({(edge[0], edge[1]) for edge in edges}) != len(edges):
        raise Malformed("an edge stands twice")
    if not _acyclic(n, edges):
        raise Malformed("the graph has a cycle")


def check_vertex(name: str, vertex: Json, n: int) -> None:
    """Raises Malformed unless the value is a vertex of a graph with n vertices."""
    if not is_integer(vertex, 0, n - 1):
        raise Malformed(f"{name} must be a vertex in 0..n-1")


def _acyclic(n: int, edges: Sequence[Sequence[int]]) -> bool:
    """True when peeling off sinks empties the graph."""
    tails: list[list[int]] = [[] for _ in range(n)]
    leaving = [0] * n
    for tail, head, *_ in edges:
        tails[head].append(tail)
        leaving[tail] += 1
    sinks = [v for v in range(n) if not leaving[v]]
    for sink in sinks:
        for tail in tails[sink]:
            leaving[tail] -= 1
            if not leaving[tail]:
                sinks.append(tail)
    return len(sinks) == n


def shuffled(rng: Random, n: int) -> list[int]:
    """The vertices in a random order, which labels tell nothing about."""
    return rng.sample(range(n), n)


def random_edges(rng: Random, order: Sequence[int], density: float) -> list[list[int]]:
    """Edges that follow the order, each present with probability `density`, listed in random sequence."""
    edges = [[u, v] for u, v in combinations(order, 2) if rng.random() < density]
    rng.shuffle(edges)
    return edges


def drawn_density(rng: Random, n: int, density: float) -> float:
    """The tier's density, or for every other small graph any density, so that draws cover a small space whole."""
    return rng.random() if n <= SMALL and rng.random() < 0.5 else density


def random_dag(rng: Random, n: int, density: float) -> list[list[int]]:
    return random_edges(rng, shuffled(rng, n), density)


def all_dags(n: int) -> Iterator[list[list[int]]]:
    """Every labelled DAG on n vertices, once each; 1, 3, 25, 543 of them for n = 1, 2, 3, 4."""
    seen = set()
    for order in permutations(range(n)):
        pairs = list(combinations(order, 2))
        for size in range(len(pairs) + 1):
            for edges in combinations(pairs, size):
                key = frozenset(edges)
                if key not in seen:
                    seen.add(key)
                    yield [list(edge) for edge in sorted(edges)]


def all_digraphs(n: int) -> Iterator[list[list[int]]]:
    """Every set of ordered pairs over n vertices, loops and cycles included."""
    pairs = [[u, v] for u in range(n) for v in range(n)]
    for size in range(len(pairs) + 1):
        for edges in combinations(pairs, size):
            yield list(edges)


def count_dags(n: int) -> int:
    """How many labelled DAGs n vertices have (Robinson, 1973)."""
    counts = [1]
    for m in range(1, n + 1):
        counts.append(sum((-1) ** (k + 1) * comb(m, k) * 2 ** (k * (m - k)) * counts[m - k] for k in range(1, m + 1)))
    return counts[n]


def layered(width: int, depth: int) -> tuple[int, list[list[int]]]:
    """A source, `depth` complete layers of `width` vertices, a sink: width ** depth paths through few edges."""
    layers = [[0], *([1 + width * d + k for k in range(width)] for d in range(depth)), [1 + width * depth]]
    edges = [[u, v] for upper, lower in zip(layers, layers[1:], strict=False) for u in upper for v in lower]
    return 2 + width * depth, edges


def chain_with_shortcuts(rng: Random, n: int, density: float) -> tuple[list[int], list[list[int]]]:
    """A path through all vertices under random labels with some forward edges beside it; the order comes first."""
    order = shuffled(rng, n)
    edges = [[order[i], order[j]] for i in range(n) for j in range(i + 1, n) if j == i + 1 or rng.random() < density]
    rng.shuffle(edges)
    return order, edges
