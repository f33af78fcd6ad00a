"""Live work: the same proofs as stored, a worker that can be killed, programs behind the sandbox's wall."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proceval.console import problems
from proceval.console.desk import Desk
from proceval.errors import InputError
from proceval.report.run import Run
from proceval.schema import Completion


def test_a_live_proof_is_the_stored_one(desk: Desk, run: Path) -> None:
    problem = Run(run).problems()[0]
    stored = problems.certificates(run, problem.id)[0]
    live = desk.prove(problem.family, problem.arguments)
    assert live.proof is not None
    assert (live.proof.status, live.proof.answer) == ("unique", problem.expected)
    assert tuple(live.proof.queries) == stored.queries
    assert live.wall_s > 0


def test_proofs_work_from_any_thread(desk: Desk) -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(desk.prove("equilibrium_index", {"array": [4, 4, 9, 4, 4]})))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.proof.answer for one in found] == [2, 2, 2]


def test_what_cannot_be_proved_is_said(desk: Desk) -> None:
    with pytest.raises(InputError, match="not among the families"):
        desk.prove("absent", {})
    with pytest.raises(InputError, match="breaks the contract"):
        desk.prove("equilibrium_index", {"array": [-1]})
    ambiguous = desk.prove("equilibrium_index", {"array": [1, 5, 6, 9]})
    assert ambiguous.proof is not None
    assert ambiguous.proof.status != "unique"


class Endless:
    """A family whose second instance never comes to a specification."""

    name = "endless"

    def validate(self, instance: dict[str, Any]) -> None:
        """Everything is allowed."""

    logic = "QF_LIA"

    def specify(self, instance: dict[str, Any], spec: Any) -> None:
        while instance["loop"]:
            pass
        spec.rule("x is three", f"(= {spec.int('x')} 3)")
        spec.answer(["x"], lambda values: values["x"])


@pytest.fixture
def strict(desk: Desk) -> Iterator[Desk]:
    """A desk whose prover has a limit of a tenth of a second."""

    class Short:
        name = "z3"
        limits = {**desk.prover.limits, "cpu_s": 0.1}
        certify = staticmethod(desk.prover.certify)

    made = Desk(families={"endless": Endless()}, prover=Short(), track=desk.track, sandbox=desk.sandbox)  # type: ignore[dict-item]
    made.start()
    yield made
    assert made._clerk is not None
    made._clerk.close()


def test_a_proof_that_runs_away_is_killed_and_the_next_one_works(strict: Desk) -> None:
    stuck = strict.prove("endless", {"loop": True})
    assert stuck.proof is None
    assert stuck.reason is not None
    assert stuck.reason.startswith("cpu")
    after = strict.prove("endless", {"loop": False})
    assert after.proof is not None
    assert after.proof.answer == 3


def test_a_program_is_only_run_in_the_sandbox(desk: Desk, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    code = f"def f(x):\n    open({str(mark)!r}, 'w').write('here')\n    return x\n"
    got = desk.run(code, "f", [{"x": 1}])
    assert not mark.exists()
    assert got.fault is None
    assert got.results[0].kind == "raised"


def test_a_completion_is_judged_again_by_the_track(desk: Desk, run: Path) -> None:
    problem = Run(run).problems()[0]
    completion = Completion(
        text=f"```python\n{problem.reference}```", finish_reason="stop", prompt_tokens=None, completion_tokens=None,
        cost_usd=None, latency_s=0.0,
    )  # fmt: skip
    assert desk.judge(problem, completion).outcome == "passed"
