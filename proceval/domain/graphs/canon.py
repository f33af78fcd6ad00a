"""A form of a small coloured digraph that is the same for all relabellings of it.

Colours are refined by neighbourhoods; where that leaves ties, every vertex of the first tied class is tried in turn
and the least form wins (individualisation and refinement; McKay, 1981).
"""

from collections.abc import Mapping, Sequence

from proceval.schema import Json

LEAVES = 2_000
"""Labellings tried before the form falls back to the refined colours alone.

That form, marked `by colour`, is still the same for all relabellings, so no duplicate slips through; but graphs that only
look alike may share it, and then one of them is dropped as a duplicate. No graph of the tiers in conf/ comes near it: it
takes thousands of symmetries beyond twins.
"""


def graph(n: int, edges: Sequence[Sequence[int]], marks: Mapping[int, int]) -> Json:
    """A digraph with optional edge weights and marked vertices as [n, marks, edges] under canonical labels."""
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    entering: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for tail, head, *weight in edges:
        leaving[tail].append((head, sum(weight)))
        entering[head].append((tail, sum(weight)))
    start = _refine([marks.get(v, 0) for v in range(n)], leaving, entering)
    label = _least(start, leaving, entering, [LEAVES])
    if label is None:
        return [n, sorted(start), sorted([start[u], start[v], *w] for u, v, *w in edges), "by colour"]
    marked = sorted([label[v], mark] for v, mark in marks.items())
    return [n, marked, sorted([label[u], label[v], *w] for u, v, *w in edges)]


def _refine(
    colours: list[int], leaving: list[list[tuple[int, int]]], entering: list[list[tuple[int, int]]]
) -> list[int]:
    """Splits colours by the colours next door until nothing splits; numbers them in an order free of labels."""
    while True:
        views = [
            (
                colour,
                tuple(sorted((colours[u], w) for u, w in leaving[v])),
                tuple(sorted((colours[u], w) for u, w in entering[v])),
            )
            for v, colour in enumerate(colours)
        ]
        rank = {view: k for k, view in enumerate(sorted(set(views)))}
        refined = [rank[view] for view in views]
        if len(rank) == len(set(colours)):
            return refined
        colours = refined


def _least(
    colours: list[int],
    leaving: list[list[tuple[int, int]]],
    entering: list[list[tuple[int, int]]],
    budget: list[int],
) -> list[int] | None:
    """The labelling with the least edge list among all that the colours leave open, or None when too many are."""
    classes: dict[int, list[int]] = {}
    for v, colour in enumerate(colours):
        classes.setdefault(colour, []).append(v)
    tied = next((classes[c] for c in sorted(classes) if len(classes[c]) > 1), None)
    if tied is None:
        budget[0] -= 1
        return colours
    best: list[int] | None = None
    best_key: list[tuple[int, int, int]] | None = None
    tried = set()
    for v in tied:
        twin = (tuple(sorted(leaving[v])), tuple(sorted(entering[v])))
        if twin in tried:  # same neighbours, same colour: swapping the two changes nothing
            continue
        tried.add(twin)
        if budget[0] < 0:
            return None
        split = [2 * colour + (u != v and colour == colours[v]) for u, colour in enumerate(colours)]
        found = _least(_refine(split, leaving, entering), leaving, entering, budget)
        if found is None:
            return None
        key = sorted((found[u], found[h], w) for u in range(len(colours)) for h, w in leaving[u])
        if best_key is None or key < best_key:
            best, best_key = found, key
    return best
