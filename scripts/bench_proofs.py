"""Proved problems per CPU-second by family and tier, beside the naive encoding, in one run.

    python scripts/bench_proofs.py                       all families and tiers, a few minutes
    python scripts/bench_proofs.py --seconds 1 --tiers easy,frontier --families dag_reachability

Both sides sample the same instances, prove existence and uniqueness, and compare with the oracle; all of that is in the
time. Each query runs in the killable worker and has 5 CPU-seconds, on both sides. Naive: z3py operators building integer
terms, sums of if-then-else, one solver in the main context, the witness blocked on that solver. The table also gives the
largest resource count of a query, which is the same on every machine, and the proofs that stayed undecided.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval.seeding import canonical, rng  # noqa: E402
from sandbox.worker import Worker  # noqa: E402
from scripts.scope import TIERS, parts  # noqa: E402

QUERY_CPU_S = 5.0

Encoded = tuple[Any, list[Any], Callable[[list[Any]], Any]]
"""A solver holding the rules, the terms to block, and the reading of their values."""


def equilibrium_index(z3: Any, array: list[int]) -> Encoded:
    solver, i = z3.Solver(), z3.Int("i")
    left = z3.Sum([z3.If(j < i, x, 0) for j, x in enumerate(array)])
    right = z3.Sum([z3.If(j > i, x, 0) for j, x in enumerate(array)])
    solver.add(i >= 0, i < len(array), left == right)
    return solver, [i], lambda values: values[0]


def monotonic_split(z3: Any, array: list[int], target: int) -> Encoded:
    solver, k = z3.Solver(), z3.Int("k")
    solver.add(k >= 0, k < len(array))
    for j, x in enumerate(array):
        number = z3.IntVal(x)
        solver.add(z3.Implies(j < k, number < target), z3.Implies(j == k, number >= target))
    return solver, [k], lambda values: values[0]


def _closure(z3: Any, n: int, edges: Sequence[tuple[int, int]], start: int, *, depth: bool) -> Encoded:
    """Closed and supported; `depth` makes each member one step deeper than one before it, which rules out cycles."""
    solver, reached = z3.Solver(), [z3.Bool(f"r{v}") for v in range(n)]
    level = [z3.Int(f"d{v}") for v in range(n)]
    before: list[list[int]] = [[] for _ in range(n)]
    solver.add(reached[start])
    for u, v in edges:
        solver.add(z3.Implies(reached[u], reached[v]))
        before[v].append(u)
    for v in range(n):
        if depth:
            solver.add(level[v] >= 0, level[v] <= n)
        if v != start:
            steps = [z3.And(reached[u], level[v] == level[u] + 1) if depth else reached[u] for u in before[v]]
            solver.add(z3.Implies(reached[v], z3.Or(steps)))
    if depth:
        solver.add(level[start] == 0)
    count = z3.Int("count")
    solver.add(count == z3.Sum([z3.If(r, 1, 0) for r in reached]))
    return solver, [count], lambda values: values[0]


def dag_reachability(z3: Any, n: int, edges: list[list[int]], source: int) -> Encoded:
    return _closure(z3, n, [(u, v) for u, v in edges], source, depth=False)


def dag_shortest_path(z3: Any, n: int, edges: list[list[int]], source: int, target: int) -> Encoded:
    solver = z3.Solver()
    far = 1 + sum(w for _, _, w in edges)
    distance, chosen = [z3.Int(f"d{v}") for v in range(n)], [z3.Bool(f"x{k}") for k in range(len(edges))]
    solver.add(distance[source] == 0)
    for v in range(n):
        into = [(k, u, w) for k, (u, head, w) in enumerate(edges) if head == v]
        out = [k for k, (tail, _, _) in enumerate(edges) if tail == v]
        if v != source:
            reasons = [distance[v] == distance[u] + w for _, u, w in into]
            solver.add(z3.Or([distance[v] == far, *reasons]))
            solver.add([distance[v] <= distance[u] + w for _, u, w in into])
        entering, leaving = (z3.Sum([z3.If(chosen[k], 1, 0) for k in ks]) for ks in ([k for k, *_ in into], out))
        ends = (v == target) - (v == source)
        solver.add(entering - leaving == ends, entering <= 1)
    solver.add(z3.Sum([z3.If(x, w, 0) for x, (_, _, w) in zip(chosen, edges, strict=True)]) == distance[target])

    def path(values: list[Any]) -> Any:
        onward = {u: (v, w) for (u, v, w), x in zip(edges, values, strict=True) if x}
        walk, weight = [source], 0
        while walk[-1] in onward:
            v, w = onward[walk[-1]]
            walk.append(v)
            weight += w
        return {"weight": weight, "path": walk}

    return solver, chosen, path


def dag_topological_position(z3: Any, n: int, edges: list[list[int]], vertex: int) -> Encoded:
    solver, place = z3.Solver(), [z3.Int(f"p{v}") for v in range(n)]
    before: list[list[int]] = [[] for _ in range(n)]
    for u, v in edges:
        before[v].append(u)
        solver.add(place[u] < place[v])
    solver.add([z3.And(p >= 1, p <= n) for p in place])
    solver.add(z3.Distinct(place))
    for u in range(n):
        for v in range(u + 1, n):
            solver.add(z3.Implies(place[v] < place[u], z3.Or([place[q] >= place[v] for q in before[u]])))
    return solver, [place[vertex]], lambda values: values[0]


def dfa_string_acceptance(z3: Any, dfa: dict[str, Any], length: int) -> Encoded:
    solver, states = z3.Solver(), range(dfa["states"])
    layers = [[z3.Int(f"c{k}_{q}") for q in states] for k in range(length + 1)]
    solver.add([layers[0][q] == int(q == dfa["start"]) for q in states])
    for k in range(length):
        for q in states:
            inflow = [layers[k][p] for p in states for target in dfa["delta"][p] if target == q]
            solver.add(layers[k + 1][q] == z3.Sum(inflow))
    answer = z3.Int("answer")
    solver.add(answer == z3.Sum([layers[-1][q] for q in dfa["accept"]]))
    return solver, [answer], lambda values: values[0]


def dfa_product_reachability(z3: Any, a: dict[str, Any], b: dict[str, Any]) -> Encoded:
    width = b["states"]
    edges = {
        (p * width + q, x * width + y)
        for p in range(a["states"])
        for q in range(width)
        for x, y in zip(a["delta"][p], b["delta"][q], strict=True)
        if (x, y) != (p, q)
    }
    return _closure(z3, a["states"] * width, sorted(edges), a["start"] * width + b["start"], depth=True)


NAIVE: dict[str, Callable[..., Encoded]] = {
    f.__name__: f
    for f in (
        equilibrium_index, monotonic_split, dag_reachability, dag_shortest_path, dag_topological_position,
        dfa_string_acceptance, dfa_product_reachability,
    )
}  # fmt: skip


def naive(name: str, instance: dict[str, Any], section: Callable[[str], None]) -> tuple[str, Any]:
    import z3

    section("build and existence")
    solver, terms, read = NAIVE[name](z3, **instance)
    if solver.check() != z3.sat:
        return "infeasible", None
    found = [solver.model().eval(term, model_completion=True) for term in terms]
    section("uniqueness")
    solver.add(z3.Or([term != value for term, value in zip(terms, found, strict=True)]))
    if solver.check() != z3.unsat:
        return "ambiguous", None
    return "unique", read([v.as_long() if z3.is_int_value(v) else z3.is_true(v) for v in found])


def measure(worker: Worker, cell: tuple[str, str, str], seconds: float, least: int) -> dict[str, Any]:
    """One cell until its CPU-seconds are spent and `least` instances are through."""
    spent, proved, undecided, work, times = 0.0, 0, 0, 0, []
    index = 0
    while (spent < seconds or index < least) and spent < 4 * seconds + 6:
        reply = worker.call((*cell, index))
        spent += reply.cpu_s
        index += 1
        if reply.status == "raised":
            raise RuntimeError(reply.error)
        status, count = reply.value if reply.status == "done" else ("unknown", 0)
        work = max(work, count)
        times.append(1000 * reply.cpu_s)
        proved += status == "unique"
        undecided += status == "unknown"
    rate = proved / spent if spent else 0.0
    return {
        "rate": rate,
        "median_ms": statistics.median(times),
        "worst_ms": max(times),
        "undecided": undecided,
        "work": work,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])  # type: ignore[union-attr]
    parser.add_argument("--seconds", type=float, default=3.0, help="CPU-seconds per cell and side")
    parser.add_argument("--tiers", default=",".join(TIERS))
    parser.add_argument("--families", default=",".join(NAIVE))
    given = parser.parse_args()
    families, prover = parts()

    def handle(payload: tuple[str, str, str, int], section: Callable[[str], None]) -> tuple[str, int]:
        side, name, tier, index = payload
        family = families[name]
        instance = family.sample(rng("bench", name, tier, index), tier)
        if side == "naive":
            status, answer = naive(name, instance, section)
            work = 0
        else:
            proof = prover.certify(family.specification(instance), section)
            status, answer = proof.status, proof.answer
            work = max(query.resource_count or 0 for query in proof.queries)
        section("oracle")
        truth = family.oracle(instance)
        if status != "unknown" and (status, canonical(answer)) != (truth.status, canonical(truth.answer)):
            raise AssertionError(f"{side}, {name}, {tier}, {index}: {status} {answer}, oracle {truth}")
        return status, work

    print(f"{prover.solver}; proofs per CPU-second with sampling and oracle; times in CPU-milliseconds")
    print(f"{'family':26}{'tier':10}{'proceval':>9}{'naive':>9}{'factor':>8}{'median':>8}{'worst':>8}"
          f"{'undecided':>11}{'(naive)':>8}{'most work':>11}")  # fmt: skip
    began = time.time()
    # One worker for each side: the naive one grows its main context, and the slower for it the longer it runs.
    limits = {**prover.limits, "cpu_s": QUERY_CPU_S}
    with Worker(handle, **limits) as worker, Worker(handle, **limits) as other:
        for name in given.families.split(","):
            for tier in given.tiers.split(","):
                ours = measure(worker, ("ours", name, tier), given.seconds, 5)
                theirs = measure(other, ("naive", name, tier), given.seconds, 1)
                factor = f"{ours['rate'] / theirs['rate']:.1f}" if theirs["rate"] else "-"
                print(
                    f"{name:26}{tier:10}{ours['rate']:9.1f}{theirs['rate']:9.2f}{factor:>8}{ours['median_ms']:8.0f}"
                    f"{ours['worst_ms']:8.0f}{ours['undecided']:11}{theirs['undecided']:8}{ours['work']:11}",
                    flush=True,
                )
    print(f"{time.time() - began:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
