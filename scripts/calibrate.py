"""What the whole resource budget costs in CPU time on this machine, and whether the kill switch is ten times that.

    python scripts/calibrate.py            two minutes
    python scripts/calibrate.py --prover z3_cvc5
    python scripts/calibrate.py --check    exit status 1 when the kill switch is less than ten times the budget's cost

The budget decides what is accepted and is the same on every machine; the CPU limit only ends what ignores it. Queries
are made as dear as configuration allows, far beyond the tier `frontier`: those that the budget stops show its cost, and
those that stay below it show that nothing dearer can be asked. A query's CPU time counts from its section's start to
its verdict, parsing included, as the worker counts it. The last row, nothing but search, is no family's encoding and is
shown only: units of search are several times dearer than units of the families' queries.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from proceval import config  # noqa: E402
from proceval.seeding import rng  # noqa: E402
from proceval.smt import Spec, disj  # noqa: E402

LARGEST: dict[str, tuple[str, dict[str, object]]] = {
    "equilibrium_index": ("arrays", {"length": [20_000, 20_000]}),
    "monotonic_split": ("arrays", {"length": [20_000, 20_000]}),
    "dag_reachability": ("graphs", {"vertices": [2_000, 2_000], "density": 0.03}),
    "dag_shortest_path": ("graphs", {"vertices": [2_000, 2_000], "density": 0.03}),
    "dag_topological_position": ("graphs", {"vertices": [240, 240], "density": 0.05}),
    "dfa_string_acceptance": ("automata", {"states": [100, 100], "length": [500, 500]}),
    "dfa_product_reachability": ("automata", {"states": [200, 200]}),
}
FACTOR = 10
"""How far beyond the budget's cost the kill switch stands."""


def pigeons(holes: int) -> Spec:
    """One pigeon too many: nothing but search."""
    spec = Spec("QF_UF")
    at = [[spec.bool(f"at_{p}_{h}") for h in range(holes)] for p in range(holes + 1)]
    for row in at:
        spec.rule("every pigeon has a hole", disj(row))
    for h in range(holes):
        for p in range(holes + 1):
            for q in range(p):
                spec.rule("no hole has two", f"(or (not {at[p][h]}) (not {at[q][h]}))")
    spec.answer(at[0], lambda values: None)
    return spec


def dearest() -> Iterator[tuple[str, Spec]]:
    """(name, specification) of queries as large as the configuration allows, or larger than the budget allows."""
    for name, (domain, sizes) in LARGEST.items():
        words = [f"domain.{domain}.{name}.{key}={value}" for key, value in sizes.items()]
        settings = config.compose(f"domain={domain}", "difficulty=frontier", *words)
        family = config.build(settings["domain"], "domain")[domain][name]
        instance = family.sample(rng("calibrate", name), "frontier")
        shown = " ".join(f"{key} {value}" for key, value in sizes.items())
        yield f"{name} {shown}", family.specification(instance)
    yield "pigeons 12 holes", pigeons(12)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--prover", default="z3", help="a choice of conf/prover")
    parser.add_argument("--check", action="store_true", help="exit status 1 when the kill switch is too near")
    given = parser.parse_args()
    prover = config.build(config.compose(f"prover={given.prover}")["prover"], "prover")
    kill_s = float(prover.limits["cpu_s"])
    print(f"{prover.solver}; budget {prover.resource_budget:,} a query, kill switch {kill_s:g} CPU-seconds")
    print(f"{'specification':58}{'query':>24}{'units':>12}{'CPU s':>8}  verdict")
    worst = 0.0
    for name, spec in dearest():
        spec.evidence = None
        began: list[tuple[str, float]] = []

        def section(label: str, began: list[tuple[str, float]] = began) -> None:
            began.append((label, time.process_time()))

        proof = prover.certify(spec, section)
        ends = [*(start for _, start in began[1:]), time.process_time()]
        for query, (label, start), end in zip_longest(proof.queries, began, ends):
            worst = max(worst, 0.0 if name.startswith("pigeons") else end - start)
            units = f"{query.resource_count:,}" if query else ""
            verdict = "" if not query else proof.reason if query.verdict == "unknown" else query.verdict
            print(f"{name:58}{label:>24}{units:>12}{end - start:8.2f}  {verdict}", flush=True)
    print(f"dearest query {worst:.2f} CPU-seconds; kill switch at {kill_s / worst:.0f} times that")
    return int(given.check and kill_s < FACTOR * worst)


if __name__ == "__main__":
    raise SystemExit(main())
