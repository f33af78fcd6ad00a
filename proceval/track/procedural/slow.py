"""Solutions that are right and slow, as people write them, each with a call on which that shows.

Every function has the name and the contract of a family's reference; `<name>_stress` gives the calls of the probe, for
which the reference takes a small part of a second and these take far longer than `BOUND_S`. A family without an entry
here has no slow cases.
"""

import ast
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

BOUND_S = 3
"""CPU seconds that a probe may take in all, as the task states; more than ten times what the reference takes, and less
than a third of what the slow solution takes."""

Calls = list[dict[str, Any]]


@dataclass(frozen=True)
class Slow:
    """Source texts: of the function without its docstring, and of the function that makes the calls of the probe."""

    function: str
    stress: str


def equilibrium_index(array):  # type: ignore[no-untyped-def]
    index = 0
    while sum(array[:index]) != sum(array[index + 1 :]):
        index += 1
    return index


def equilibrium_index_stress() -> Calls:
    return [{"array": [1] * 150_000 + [7] + [50_000] * 3}]


def monotonic_split(array, target):  # type: ignore[no-untyped-def]
    position = 0
    while array[position] < target:
        position += 1
    return position


def monotonic_split_stress() -> Calls:
    array = list(range(0, 1_000_000, 2))
    return [{"array": array, "target": 999_000 - step} for step in range(1_500)]


def dag_reachability(n, edges, source):  # type: ignore[no-untyped-def]
    reached = [source]
    for vertex in reached:
        for tail, head in edges:
            if tail == vertex and head not in reached:
                reached.append(head)
    return len(reached)


def dag_reachability_stress() -> Calls:
    n = 30_000
    return [{"n": n, "edges": [[v, v + 1] for v in range(n - 1)], "source": 0}]


def dag_shortest_path(n, edges, source, target):  # type: ignore[no-untyped-def]
    distance = {source: 0}
    previous = {}
    for _ in range(n):
        for tail, head, weight in edges:
            if tail in distance and (head not in distance or distance[tail] + weight < distance[head]):
                distance[head] = distance[tail] + weight
                previous[head] = tail
    path = [target]
    while path[-1] != source:
        path.append(previous[path[-1]])
    return {"weight": distance[target], "path": path[::-1]}


def dag_shortest_path_stress() -> Calls:
    n = 30_000
    edges = [[v, v + 1, 1 + v % 7] for v in range(n - 1)]
    return [{"n": n, "edges": edges[::-1], "source": 0, "target": n - 1}]


def dag_topological_position(n, edges, vertex):  # type: ignore[no-untyped-def]
    entering = [0] * n
    for _, head in edges:
        entering[head] += 1
    free = [label for label in range(n) if entering[label] == 0]
    position = 1
    while min(free) != vertex:
        gone = min(free)
        free.remove(gone)
        for tail, head in edges:
            if tail == gone:
                entering[head] -= 1
                if entering[head] == 0:
                    free.append(head)
        position += 1
    return position


def dag_topological_position_stress() -> Calls:
    n = 30_000
    return [{"n": n, "edges": [[v + 1, v] for v in range(0, n - 1, 2)], "vertex": n - 2}]


def dfa_string_acceptance(dfa, length):  # type: ignore[no-untyped-def]
    def accepted(state: int, left: int) -> int:
        if left == 0:
            return int(state in dfa["accept"])
        return sum(accepted(following, left - 1) for following in dfa["delta"][state])

    return accepted(dfa["start"], length)


def dfa_string_acceptance_stress() -> Calls:
    dfa = {"states": 3, "alphabet": 2, "start": 0, "accept": [1, 2], "delta": [[1, 2], [2, 0], [0, 0]]}
    return [{"dfa": dfa, "length": 300}]


def dfa_product_reachability(a, b):  # type: ignore[no-untyped-def]
    reached = [(a["start"], b["start"])]
    for p, q in reached:
        for symbol in range(a["alphabet"]):
            pair = (a["delta"][p][symbol], b["delta"][q][symbol])
            if pair not in reached:
                reached.append(pair)
    return len(reached)


def dfa_product_reachability_stress() -> Calls:
    rings = [
        {
            "states": states,
            "alphabet": 1,
            "start": 0,
            "accept": [],
            "delta": [[(s + 1) % states] for s in range(states)],
        }
        for states in (251, 250)
    ]
    return [{"a": rings[0], "b": rings[1]}]


_SOLUTIONS = (
    (equilibrium_index, equilibrium_index_stress),
    (monotonic_split, monotonic_split_stress),
    (dag_reachability, dag_reachability_stress),
    (dag_shortest_path, dag_shortest_path_stress),
    (dag_topological_position, dag_topological_position_stress),
    (dfa_string_acceptance, dfa_string_acceptance_stress),
    (dfa_product_reachability, dfa_product_reachability_stress),
)


def solutions() -> dict[str, Slow]:
    """The slow solutions by family."""
    return {f.__name__: Slow(_untyped(f), _untyped(stress)) for f, stress in _SOLUTIONS}


def _untyped(function: Callable[..., Any]) -> str:
    tree = ast.parse(inspect.getsource(function))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for argument in node.args.args:
                argument.annotation = None
    return ast.unparse(tree) + "\n"
