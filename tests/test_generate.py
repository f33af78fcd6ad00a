"""Generation under provers that misbehave: nothing they do becomes a label, and the run goes on or stops loudly."""

import ctypes
import json
import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proceval import config
from proceval.errors import Finding
from proceval.folder import RunFolder
from proceval.protocols import Proof
from proceval.stage.generate import Generate


class Unruly:
    """A prover that does something else than prove for every second instance."""

    name = "unruly 1"

    def __init__(self, real: Any, deed: str) -> None:
        self.real, self.deed, self.calls = real, deed, 0
        self.limits = {"cpu_s": 0.3, "wall_s": 30.0, "memory_bytes": 1 << 30}

    def certify(self, spec: Any, section: Any) -> Proof:
        proof: Proof = self.real.certify(spec, section)
        self.calls += 1
        if self.deed == "behaves" or self.calls % 2:
            return proof
        section("existence")
        if self.deed == "hangs in C, deaf to every signal but one":
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
                signal.signal(number, signal.SIG_IGN)
            pow(7, 10**9)
        if self.deed == "crashes":
            ctypes.string_at(0)
        if self.deed == "eats memory":
            bytearray(1 << 40)
        if self.deed == "gives up":
            return Proof(status="unknown", answer=None, reason="over_budget", solver=self.name, queries=(), texts={})
        if self.deed == "lies":
            return Proof(status="unique", answer=-12345, reason=None, solver=self.name, queries=(), texts={})
        raise AssertionError(self.deed)


@pytest.fixture
def parts() -> tuple[dict[str, Any], Any, Any]:
    settings = config.compose("domain=arrays", "difficulty=easy")
    del settings["domain"]["arrays"]["monotonic_split"]
    return (
        config.build(settings["domain"], "domain"),
        config.build(settings["prover"] | {"limits": settings["prover"]["limits"] | {"cpu_s": 2.0}}, "prover"),
        config.build(settings["audit"], "audit"),
    )


def _generate(tmp_path: Path, parts: Any, deed: str) -> RunFolder:
    families, prover, audit = parts
    stage = Generate(
        track=SimpleNamespace(proved=True),
        families=families,
        prover=Unruly(prover, deed),
        audit=audit,
        seed=0,
        count=1,
        workers=1,
        attempts=3,
        shard={"count": 1, "index": 0},
    )
    folder = RunFolder(path=tmp_path / "run", settings={}, inputs="x", outputs=tmp_path, dataset=None)
    with folder.open(fresh=False, writes=True):
        stage.run(folder)
    return folder


@pytest.mark.parametrize(
    ("deed", "reason"),
    [
        ("hangs in C, deaf to every signal but one", "solver_cpu in existence"),
        ("crashes", "solver_crash in existence"),
        ("eats memory", "solver_memory in existence"),
        ("gives up", "over_budget"),
    ],
    ids=lambda v: v.split(",")[0],
)
def test_a_solver_that_fails_rejects_its_instance_with_the_reason(tmp_path, parts, deed, reason):
    folder = _generate(tmp_path, parts, deed)
    facts = json.loads((folder / "generation.json").read_text())
    assert any(reason in counted for counted in facts["rejected"]), facts["rejected"]
    assert facts["machine_dependent"] == reason.startswith("solver_")
    for line in (folder / "dataset.jsonl").read_text().splitlines():
        assert json.loads(line)["tests"]


def test_a_solver_that_contradicts_the_oracle_stops_the_run_and_leaves_a_bug_report(tmp_path, parts):
    with pytest.raises(Finding, match="disagree"):
        _generate(tmp_path, parts, "lies")
    report = json.loads((tmp_path / "run" / "bug-report.json").read_text())
    assert report["solver"]["answer"] == -12345
    assert report["oracle"]["answer"] != -12345
    assert report["instance"]["array"]
    assert not (tmp_path / "run" / "dataset.jsonl").exists()
    assert not os.path.exists(tmp_path / ".datasets" / "x.json")


def test_the_python_face_proves_scores_and_loads(tmp_path, parts):
    import proceval
    from proceval.errors import InputError, Malformed

    proof = proceval.prove("equilibrium_index", {"array": [4, 4, 9, 4, 4]})
    assert (proof.status, proof.answer) == ("unique", 2)
    with pytest.raises(Malformed):
        proceval.prove("equilibrium_index", {"array": [0, 0, 0]})
    with pytest.raises(InputError, match="known"):
        proceval.prove("equilibrium", {"array": [1]})
    folder = _generate(tmp_path, parts, "behaves")
    problem = proceval.load(folder.path)[0]
    assert proceval.score(problem, f"```python\n{problem.reference}\n```", "sandbox=process").outcome == "passed"
    assert proceval.score(problem, "```python\nimport os\nos._exit(0)\n```", "sandbox=process").outcome != "passed"
