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
from proceval import folder as files
from proceval.assembly import HOPELESS, assemble, hopeless, more, shelve
from proceval.errors import Finding
from proceval.folder import RunFolder
from proceval.journal import Entry, Journal
from proceval.protocols import Proof
from proceval.schema import Rejection
from proceval.stage.generate import Generate
from proceval.stage.merge import Merge


class Unruly:
    """A prover that does something else than prove for every second instance."""

    name = "unruly 1"

    def __init__(self, real: Any, deed: str) -> None:
        self.real, self.deed, self.calls = real, deed, 0
        self.limits = {"cpu_s": 0.3, "wall_s": 30.0, "memory_bytes": 1 << 30}

    def certify(self, spec: Any, section: Any) -> Proof:
        if self.deed == "gives up always":
            return Proof(status="unknown", answer=None, reason="over_budget", solver=self.name, queries=(), texts={})
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


def _stage(
    parts: Any,
    deed: str,
    kind: type[Generate] = Generate,
    *,
    count: int = 1,
    attempts: int = 3,
    workers: int = 1,
    shard: tuple[int, int] = (0, 1),
) -> Generate:
    families, prover, audit = parts
    return kind(
        track=SimpleNamespace(proved=True),
        families=families,
        prover=Unruly(prover, deed),
        audit=audit,
        seed=0,
        count=count,
        workers=workers,
        attempts=attempts,
        shard={"count": shard[1], "index": shard[0]},
    )


def _generate(tmp_path: Path, parts: Any, deed: str) -> RunFolder:
    stage = _stage(parts, deed)
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


@pytest.mark.parametrize(
    ("reason", "marked"),
    [
        ("solver_wall in uniqueness query 1", True),
        ("companion_solver_memory", True),
        ("companion_over_budget", False),
        ("rounds", False),
    ],
)
def test_a_kill_switch_marks_the_set_wherever_it_fired(tmp_path, parts, reason, marked):
    journal, cell = Journal(tmp_path / "journal"), {"family": "equilibrium_index", "difficulty": "easy"}
    why = (Rejection(**cell, index=0, attempt=0, reason=reason),)
    entry = Entry(**cell, index=0, problem=None, canonical=None, certificates=(), rejections=why)
    journal.add(entry, files.line(entry))
    folder = RunFolder(path=tmp_path, settings={}, inputs="x", outputs=tmp_path, dataset=None)
    families = {name: family for group in parts[0].values() for name, family in group.items()}
    assemble(folder, journal, families, [("equilibrium_index", "easy")], {"equilibrium_index": 1})
    facts = json.loads((tmp_path / "generation.json").read_text())
    assert (facts["rejected"], facts["machine_dependent"]) == ({reason: 1}, marked)
    journal.close()


def _barren(home: Path, parts: Any, workers: int, shards: int = 1) -> dict[str, bytes]:
    """What is written where no instance can ever be proved."""
    folder = RunFolder(path=home / "run", settings={}, inputs="x", outputs=home, dataset=None)
    words: dict[str, Any] = {"count": 40, "attempts": 200, "workers": workers}
    with folder.open(fresh=False, writes=True):
        for index in range(shards if shards > 1 else 0):
            _stage(parts, "gives up always", shard=(index, shards), **words).run(folder)
        kind = Merge if shards > 1 else Generate
        assert _stage(parts, "gives up always", kind, shard=(0, shards), **words).run(folder) == 1
    return {name: (folder / name).read_bytes() for name in ("generation.json", "rejections.jsonl", "dataset.jsonl")}


def test_a_cell_in_which_nothing_can_be_proved_is_given_up_and_says_so(tmp_path, parts, capsys):
    made = _barren(tmp_path / "one", parts, workers=1)
    facts, said = json.loads(made["generation.json"]), capsys.readouterr().err
    assert (facts["candidates"], facts["rejected"]) == (3, {"over_budget": HOPELESS}), (
        "not one of each problem asked for"
    )
    assert facts["shortfalls"][0]["sentence"].startswith("0 of the 40 problems asked for")
    first = "generate easy equilibrium_index: no problem from candidate 0 in 200 attempts: 200 over_budget\n"
    end = "generate easy equilibrium_index: given up, no problem in 600 attempts\n"
    assert said.count(first) == said.count(end) == 1
    assert said.index(first) < said.index(end)
    assert said.count("no problem from candidate") == 1
    assert _barren(tmp_path / "three", parts, workers=3) == made
    assert _barren(tmp_path / "shards", parts, workers=2, shards=2) == made


@pytest.mark.parametrize(
    ("rejections", "shapes", "last"),
    [
        ([200, 200, 200, 200], [None] * 4, 2),
        ([200, 200, 199], [None] * 3, None),
        ([1] * 700, [None] * 700, 599),
        ([0, 200, 200, 200], ["shape", None, None, None], None),
        ([200, 200, 150, 200, 200], [None, None, "shape", None, None], None),
    ],
)
def test_a_cell_is_hopeless_by_its_first_candidates_alone(tmp_path, rejections, shapes, last):
    """One problem at the beginning, and the cell goes on as it always did."""
    journal = Journal(tmp_path / "journal")
    cell = {"family": "f", "difficulty": "easy"}
    for index, (many, shape) in enumerate(zip(rejections, shapes, strict=True)):
        why = tuple(Rejection(**cell, index=index, attempt=n, reason="over_budget") for n in range(many))
        entry = Entry(**cell, index=index, problem=None, canonical=shape, certificates=(), rejections=why)
        journal.add(entry, files.line(entry))
    assert hopeless(journal, ("f", "easy")) == last
    (shelf,) = shelve(journal, {("f", "easy"): 9}).values()
    assert shelf.given_up == (last is not None)
    assert shelf.tried == (len(shapes) if last is None else last + 1)
    assert bool(more({("f", "easy"): shelf}, most=5000, barren=1000)) != shelf.given_up
    journal.close()


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
