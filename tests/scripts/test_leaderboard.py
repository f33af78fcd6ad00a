"""LEADERBOARD.md from a summary: ranks, unknown figures, the frontier, and strategies at equal tokens."""

import json
import subprocess
import sys
from pathlib import Path

from proceval.report.scores import summarise_scores
from proceval.schema import Verdict

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "leaderboard.py"


def verdicts(model: str, strategy: str, passed: int, tokens: int | None, *, faults: int = 0) -> list[Verdict]:
    """Four problems of two prompts, five samples each: `passed` of every five pass, the first ones."""
    return [
        Verdict(
            model=model, base_url=None, arm="default", strategy=strategy, mode="code", problem_id=f"p{problem}",
            family=f"f{problem % 2}", domain=("arrays", "graphs")[problem % 2], difficulty="easy",
            prompt_sha256=f"q{problem % 2}", sample=sample,
            outcome="provider_fault" if sample < faults else "passed" if sample < passed + problem % 2 else "timeout",
            fault="provider" if sample < faults else "none" if sample < passed + problem % 2 else "model",
            tests=(), extraction="fenced", turns=1, prompt_tokens=tokens, completion_tokens=tokens, cost_usd=None,
            latency_s=0.0, detail="",
        )
        for problem in range(4)
        for sample in range(5)
    ]  # fmt: skip


SWEEP = [
    *verdicts("a", "flat", 1, 50),
    *verdicts("a", "best_of_n", 2, 150),
    *verdicts("b", "flat", 1, 90, faults=1),
    *verdicts("mock", "flat", 0, None),
]

PAGE = """\
# Leaderboard

|  | accuracy | 95% | arrays | graphs | pass@1 | pass@5 | tokens | USD | frontier |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
| a, best_of_n | 50.0% | 0 to 100 | 40.0% | 60.0% | 50.0% | 100.0% | 300 | - | yes |
| a, flat | 30.0% | 0 to 100 | 20.0% | 40.0% | 30.0% | 100.0% | 100 | - | yes |
| b, flat | 12.5% | 0 to 100 | 0.0% | 25.0% | 12.5% | - | 180 | - |  |
| mock, flat | 10.0% | 0 to 100 | 0.0% | 20.0% | 10.0% | 50.0% | - | - |  |

Tokens and dollars are means a sample. 4 problems, 2 distinct prompts: intervals count prompts. A contestant is on the \
frontier when none is at least as accurate for fewer tokens.

Unscored samples, in no figure above: 4 of b, flat.

Offline models (mock) show the machinery and support no claim about difficulty.

## Strategies at equal tokens

|  | accuracy | flat samples for its tokens | one of them | the best of them |
| --- | ---: | ---: | ---: | ---: |
| a, best_of_n | 50.0% | 3 | 30.0% | 75.0% |
"""


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, str(SCRIPT), *arguments], capture_output=True, text=True)


def test_the_page_is_this_and_check_tells_a_stale_one(tmp_path: Path) -> None:
    (tmp_path / "summary.json").write_text(json.dumps({"scores": summarise_scores(SWEEP, [1, 5])}))
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
