"""LEADERBOARD.md from a summary: ranks, unknown figures, the frontier, and strategies at equal tokens."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "leaderboard.py"


def contestant(model: str, strategy: str, accuracy: float | None, tokens: int | None, **more: Any) -> dict[str, Any]:
    cell = {
        "samples": 10, "problems": 10, "prompts": 2, "accuracy": accuracy, "interval": [0.1, 0.9], "unscored": {},
        "prompt_tokens": tokens, "completion_tokens": tokens, "cost_usd": None,
        "pass_at_k": {"1": {"value": accuracy}, "5": {"value": None}},
    }  # fmt: skip
    return {
        "name": f"{model}, {strategy}", "model": model, "strategy": strategy, "mode": "code", "arm": "default",
        "base_url": None, "offline": None, "overall": cell, "by_domain": {"graphs": cell},
        "pass_curve": [[1, 0.4], [2, 0.55], [3, 0.6]],
    } | more  # fmt: skip


CONTESTANTS = [
    contestant("a", "flat", 0.4, 500),
    contestant("a", "best_of_n", 0.5, 1500),
    contestant("b", "flat", 0.3, 900),
    contestant("mock", "flat", None, None, offline="mock"),
]

PAGE = """\
# Leaderboard

|  | accuracy | 95% | graphs | pass@1 | pass@5 | tokens | USD | frontier |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| a, best_of_n | 50.0% | 10 to 90 | 50.0% | 50.0% | - | 300 | - | yes |
| a, flat | 40.0% | 10 to 90 | 40.0% | 40.0% | - | 100 | - | yes |
| b, flat | 30.0% | 10 to 90 | 30.0% | 30.0% | - | 180 | - |  |
| mock, flat | - | 10 to 90 | - | - | - | - | - |  |

Tokens and dollars are means a sample. 10 problems, 2 distinct prompts: intervals count prompts. A contestant is on the \
frontier when none is at least as accurate for fewer tokens.

Offline models (mock) show the machinery and support no claim about difficulty.

## Strategies at equal tokens

|  | accuracy | flat samples for its tokens | one of them | the best of them |
| --- | ---: | ---: | ---: | ---: |
| a, best_of_n | 50.0% | 3 | 40.0% | 60.0% |
"""


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)


def test_the_page_is_this_and_check_tells_a_stale_one(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text(json.dumps({"scores": {"contestants": CONTESTANTS}}))
    assert run(str(tmp_path)).returncode == 0
    page = tmp_path / "LEADERBOARD.md"
    assert page.read_text() == PAGE
    assert run(str(tmp_path), "--check").returncode == 0
    page.write_text(PAGE + "by hand\n")
    assert run(str(tmp_path), "--check").returncode == 1


def test_a_sweep_without_summary_or_scores_is_named(tmp_path: Path) -> None:
    assert "stage=report" in run(str(tmp_path)).stderr
    (tmp_path / "summary.json").write_text('{"scores": null}')
    found = run(str(tmp_path))
    assert (found.returncode, "no scores" in found.stderr) == (2, True)
