"""What the scorer says to mutants that only the step budget kills: stopped there, too, or right and merely slow."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "step_budget_kills.py"


@pytest.mark.slow
def test_it_tells_what_never_ends_from_what_is_merely_slow(proceval, tmp_path: Path) -> None:
    """A mutant that is equivalent is booked as a kill by the budget: the scorer passes it, and the table says so."""
    words = ("count={dag_reachability: 1}", "difficulty=medium", "tracker=off", "figures=false")
    for stage in ("generate", "audit"):
        run = proceval(f"stage={stage}", *words)
        assert run.returncode == 0, run.stderr
    (audit,) = tmp_path.glob("outputs/*/audit.jsonl")
    report = json.loads(audit.read_text(encoding="utf-8"))
    fates = {mutant["id"]: mutant["fate"] for mutant in report["mutants"]}
    endless = [name for name, fate in fates.items() if fate == "timeout"]
    same = next(mutant for mutant in report["mutants"] if mutant["fate"] == "equivalent")
    assert endless, "this reference has mutants that never end"
    same["fate"] = "timeout"
    audit.write_text(json.dumps(report) + "\n", encoding="utf-8")
    run = subprocess.run([sys.executable, SCRIPT, audit.parent], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    head, _, row, *rest = run.stdout.splitlines()
    total = len(endless) + 1
    assert head == f"{total} kills by the step budget alone, of {total} distinct mutants; by the scorer:"
    assert row.split() == ["dag_reachability", *[str(total)] * 2, *f"{len(endless)} timeout, 1 passed".split()]
    assert rest == [f"passed 1 of 1: dag_reachability {same['id']}"]
