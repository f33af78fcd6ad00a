"""One small sweep and one release for all tests of the console, made as a user makes them."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proceval import config
from proceval.console import parts
from proceval.console.desk import Desk
from proceval.folder import write_records
from proceval.release.source import source
from proceval.release.write import write
from proceval.report.run import Run as ReportRun
from proceval.schema import Verdict
from tests.conftest import Run

REQUIRED = os.environ.get("PROCEVAL_BROWSER") == "required"
"""Whether a missing extra or browser is a failure; elsewhere it is a reason to skip."""


HOSTILE = (
    "</code><script>alert(1)</script> ![x](http://198.51.100.1/x.png) :red[boo] $x^2$ <img src=x onerror=alert(2)>"
)
"""What a model might write to be more than text on a page."""


def needs(extra: str, *packages: str) -> None:
    """Skip the module that calls this where an extra is not installed, with the command that installs it."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing and not REQUIRED:
        pytest.skip(f"no {missing[0]}: pip install 'proceval[{extra}]'", allow_module_level=True)


WORDS = ("domain=[arrays,automata]", "difficulty=easy", "count=1", "samples=2", "tracker=off", "figures=false")


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory, run_proceval: Callable[..., Run]) -> Path:
    """An outputs folder with a sweep of two models over four problems, and a release of their dataset."""
    where = tmp_path_factory.mktemp("console")
    made = run_proceval(where, "model=mock", *WORDS)
    assert made.returncode == 0, made.stderr
    outputs = where / "outputs"
    (job,) = (path for path in outputs.iterdir() if (path / "dataset.jsonl").is_file())
    sweep = outputs / "sweeps" / "two"
    sweep.mkdir(parents=True)
    mock, gold = sweep / "0-model=mock", sweep / "1-model=gold"
    job.rename(mock)
    (mock / "status.json").write_text('{"exit_status": 0}\n')
    shutil.copytree(mock, gold)
    _gild(gold)
    write(
        source(mock), outputs / "released", title="t", split="test", repo_id=None, advance=lambda done: None,
        prompts=lambda problem: {"prompt_code": f"Solve {problem.id}.", "prompt_answer": "Answer."},
    )  # fmt: skip
    return outputs


def _gild(folder: Path) -> None:
    """Turn a copied job into that of a model which is always right."""
    references = {problem.id: problem.reference for problem in ReportRun(folder).problems()}
    verdicts = [
        {**verdict.model_dump(), "model": "gold", "outcome": "passed", "fault": "none", "tests": (), "detail": ""}
        for verdict in ReportRun(folder).verdicts()
    ]
    write_records(folder / "verdicts.jsonl", (Verdict.model_validate(verdict) for verdict in verdicts))
    responses = []
    for response in ReportRun(folder).responses():
        text = f"```python\n{references[response.problem_id]}```\n"
        completion = response.completion.model_copy(update={"text": text, "finish_reason": "stop"})
        key = hashlib.sha256(response.key.encode()).hexdigest()
        responses.append(response.model_copy(update={"model": "gold", "key": key, "completion": completion}))
    write_records(folder / "records.jsonl", responses)
    for name in ("summary.json", "records.parquet"):
        (folder / name).unlink()


@pytest.fixture(scope="session")
def run(home: Path) -> Path:
    """The mock model's job."""
    return home / "sweeps" / "two" / "0-model=mock"


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    """A run folder of one's own, to break."""
    return Path(shutil.copytree(run, tmp_path / "outputs" / "mine"))


@pytest.fixture(scope="session")
def desk() -> Iterator[Desk]:
    settings = config.compose()
    families = {n: f for group in config.build(settings["domain"], "domain").values() for n, f in group.items()}
    built = {name: config.build(settings[name], name) for name in ("prover", "track", "sandbox")}
    made = Desk(families=families, **built)
    made.start()
    yield made
    made.close()


@pytest.fixture
def opened(desk: Desk) -> Callable[[Path], None]:
    """Make a folder the root of every page."""

    def open_(root: Path) -> None:
        parts.install(parts.Parts(root=root, desk=desk, pass_k=(1, 2)))

    return open_


@pytest.fixture
def tracks(tmp_path: Path) -> Path:
    """A run folder with a review and an agent's case as their tracks leave them, and one case that broke early."""
    home = tmp_path / "tracks"
    review, agent = home / "treatment" / "01-names", home / "default" / "fix" / "failing-test"
    for folder in (review, review / "sample-2", agent, agent.with_name("failing-test.1")):
        folder.mkdir(parents=True)
    grade = {"id": "flags-name", "kind": "must_flag", "passed": True, "weight": 1.0, "evidence": "`x` is unclear",
             "votes": [True]}  # fmt: skip
    vote = {"judge": "strict", "votes": [{"id": "flags-name", "passed": True, "evidence": "`x` is unclear"}]}
    head = {"case": "01-names", "arm": "treatment", "outcome": "passed", "fault": "none", "detail": "", "score": 1.0}
    for number, folder in enumerate((review, review / "sample-2")):
        sheet = {**head, "sample": number, "grades": [grade], "judges": [vote], "violations": ["quoted twice"]}
        (folder / "grades.json").write_text(json.dumps(sheet))
        (folder / "transcript.md").write_text("The name `x` is unclear.\n<script>alert(1)</script>\n")
        (folder / "no-rewrite.txt").write_text("untouched: names, modes and bytes are as they were\n")
    check = {"id": "verify", "kind": "verify", "passed": True, "weight": 1.0, "evidence": "exit 0", "printed": "OK\n"}
    for folder in (agent, agent.with_name("failing-test.1")):
        sheet = {"case": "fix/failing-test", "outcome": "passed", "fault": "none", "detail": "", "score": 1.0}
        (folder / "checks.json").write_text(json.dumps({**sheet, "checks": [check]}))
        (folder / "workspace.diff").write_text("--- a/calc.py\n+++ b/calc.py\n-    return a - b\n+    return a + b\n")
        call = {"id": "1", "name": "shell", "arguments": json.dumps({"command": "ls\npwd"})}
        messages = [
            {"role": "user", "content": "Fix the test."},
            {"role": "assistant", "content": "", "tool_calls": [call], "completion_tokens": 7},
            {"role": "tool", "content": "calc.py", "tool_call_id": "1"},
        ]
        (folder / "transcript.jsonl").write_text("".join(json.dumps(message) + "\n" for message in messages))
    asked: list[dict[str, Any]] = [
        {"family": "01-names", "prompt": "Review this.", "criteria": [{"id": "flags-name", "kind": "must_flag", "text": "x"}],
         "files": [{"path": "a.py", "content": "x = 1\n"}]},
        {"family": "fix/failing-test", "turns": ["Fix the test."], "checks": [check], "setup": ["git init"], "fixture": "calc"},
    ]  # fmt: skip
    (home / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in asked))
    broke = Verdict(
        model="m", base_url=None, arm="default", strategy="flat", mode="agent", problem_id="0" * 20, family="git/merge",
        domain="git", difficulty="given", prompt_sha256="0", sample=0, outcome="sandbox_fault", fault="sandbox", tests=(),
        extraction="", turns=0, prompt_tokens=None, completion_tokens=None, cost_usd=None, latency_s=None,
        detail="no workspace could be had",
    )  # fmt: skip
    write_records(home / "verdicts.jsonl", [broke])
    (home / "records.jsonl").write_text("")
    return home
