"""A DAG by levels: a vertex stands one level to the right of the last of its predecessors."""

from collections.abc import Mapping, Sequence
from math import atan2
from typing import Any

from proceval.console.drawing_svg import arrow, circle, picture, point, text
from proceval.console.look import BLUE, GREEN, GREY, ORANGE, palette
from proceval.schema import Json

MOST_VERTICES, MOST_EDGES = 60, 400
RADIUS = 15.0
ACROSS, DOWN, MARGIN = 96.0, 54.0, 34.0

Edges = Sequence[Sequence[int]]


def caption(arguments: Mapping[str, Json]) -> str:
    named = ", ".join(f"{name} {arguments[name]}" for name in ("source", "target", "vertex") if name in arguments)
    return f"{arguments['n']} vertices, {len(arguments['edges'])} edges" + (f"; {named}" if named else "")


def levels(arguments: Mapping[str, Json], answer: Json) -> str | None:
    """The graph, or None when it is too large or no graph; the answer's path, or what a source reaches, stands out."""
    n, edges = arguments["n"], arguments["edges"]
    if not _drawable(n, edges):
        return None
    layers = ordered(level_of(n, edges), edges)
    tallest = max(len(layer) for layer in layers)
    width = 2 * MARGIN + ACROSS * max(1, len(layers) - 1) + 20
    column = {v: number for number, layer in enumerate(layers) for v in layer}
    furthest = max((column[head] - column[tail] for tail, head, *_ in edges), default=0)
    height = 2 * MARGIN + DOWN * max(1, tallest - 1) + _rise(furthest - 1)
    at = {
        v: (MARGIN + 10 + ACROSS * column, height / 2 + DOWN * (row - (len(layer) - 1) / 2))
        for column, layer in enumerate(layers)
        for row, v in enumerate(layer)
    }
    strong, path = _emphasis(arguments, answer)
    body = "".join(_edge(edge, at, layers, strong, path) for edge in edges)
    body += "".join(_vertex(v, at[v], arguments, strong) for v in at)
    return picture(width, height, body, f"directed acyclic graph of {n} vertices and {len(edges)} edges")


def _rise(over: int) -> float:
    """How far an edge that passes so many levels is pulled aside; its curve goes half of that."""
    return min(40.0 + 24.0 * over, 190.0) if over > 0 else 0.0


def _drawable(n: Any, edges: Any) -> bool:
    if type(n) is not int or not isinstance(edges, list) or not 1 <= n <= MOST_VERTICES or len(edges) > MOST_EDGES:
        return False
    return all(isinstance(e, list) and len(e) >= 2 and all(type(x) is int and 0 <= x < n for x in e[:2]) for e in edges)


def level_of(n: int, edges: Edges) -> dict[int, int]:
    """Level of every vertex: the edges on the longest way to it; vertices on a cycle stay where n steps left them."""
    level = dict.fromkeys(range(n), 0)
    for _ in range(n):
        moved = False
        for tail, head, *_ in edges:
            if level[head] < level[tail] + 1 < n:
                level[head], moved = level[tail] + 1, True
        if not moved:
            break
    return level


def ordered(level: Mapping[int, int], edges: Edges) -> list[list[int]]:
    """Vertices by level, each near the middle of its neighbours (two passes of the barycentre rule)."""
    layers: list[list[int]] = [[] for _ in range(max(level.values()) + 1)]
    for v in sorted(level):
        layers[level[v]].append(v)
    neighbours: dict[int, list[int]] = {v: [] for v in level}
    for tail, head, *_ in edges:
        neighbours[head].append(tail)
        neighbours[tail].append(head)
    for turn in range(4):
        rank = {v: place - (len(layer) - 1) / 2 for layer in layers for place, v in enumerate(layer)}
        before = -1 if turn % 2 == 0 else 1
        for number, layer in enumerate(layers):

            def middle(v: int, number: int = number, before: int = before, rank: dict[int, float] = rank) -> float:
                near = [rank[u] for u in neighbours[v] if (level[u] - number) * before > 0]
                return sum(near) / len(near) if near else rank[v]

            layer.sort(key=lambda v: (middle(v), v))
    return layers


def _emphasis(arguments: Mapping[str, Json], answer: Json) -> tuple[set[int], set[tuple[int, int]]]:
    """Vertices and edges that stand out: the answer's path, or everything that the source reaches."""
    if isinstance(answer, dict) and isinstance(answer.get("path"), list):
        path = answer["path"]
        return set(path), set(zip(path, path[1:], strict=False))
    if "source" not in arguments or "target" in arguments:
        return set(), set()
    reached, waiting = {arguments["source"]}, [arguments["source"]]
    used = set()
    while waiting:
        tail = waiting.pop()
        for edge in arguments["edges"]:
            if edge[0] == tail:
                used.add((tail, edge[1]))
                if edge[1] not in reached:
                    reached.add(edge[1])
                    waiting.append(edge[1])
    return reached, used


def _edge(
    edge: Sequence[int], at: Mapping[int, tuple[float, float]], layers: Sequence[Sequence[int]],
    strong: set[int], path: set[tuple[int, int]],
) -> str:  # fmt: skip
    colours = palette()
    (x1, y1), (x2, y2) = at[edge[0]], at[edge[1]]
    over = round((x2 - x1) / ACROSS) - 1
    middle = height_middle = (y1 + y2) / 2
    if over > 0:  # past other levels: bent away from the straight line, so that it does not run through their vertices
        centre = sum(y for _, y in at.values()) / len(at)
        side = (1, -1)[(edge[0] + edge[1]) % 2] if abs(middle - centre) < DOWN / 2 else 1 if middle > centre else -1
        height_middle = middle + side * _rise(over)
    bend = ((x1 + x2) / 2, height_middle)
    out = atan2(bend[1] - y1, bend[0] - x1)
    back = atan2(bend[1] - y2, bend[0] - x2)
    told = (edge[0], edge[1]) in path
    drawn = arrow(
        point(x1, y1, RADIUS, out), bend, point(x2, y2, RADIUS + 1, back),
        colours[ORANGE] if told else colours[GREY], width=2.4 if told else 1.4, faint=bool(path) and not told,
    )  # fmt: skip
    if len(edge) > 2:
        x, y = (x1 + 2 * bend[0] + x2) / 4, (y1 + 2 * bend[1] + y2) / 4
        drawn += text(x, y - 4, str(edge[2]), size=11, bold=told)
    return drawn


def _vertex(v: int, at: tuple[float, float], arguments: Mapping[str, Json], strong: set[int]) -> str:
    colours = palette()
    named = [name for name in ("source", "target", "vertex") if arguments.get(name) == v]
    colour = colours[GREEN] if named else colours[ORANGE] if v in strong else colours[BLUE]
    drawn = circle(*at, RADIUS, colour=colour, filled=True, width=2.5 if named else 1.5)
    drawn += text(at[0], at[1] + 4, str(v), size=12, bold=bool(named))
    if named:
        drawn += text(at[0], at[1] + RADIUS + 13, " = ".join(named), size=10, faint=True)
    return drawn
