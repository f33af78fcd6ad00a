"""A small suite of agent cases on disk and one pass over it: shared by the tests of the agent track."""

import json
from functools import cache
from pathlib import Path
from typing import Any

from proceval import config
from proceval.engine import EngineReport
from proceval.schema import Response, ToolCall, Verdict
from proceval.strategy.flat import Flat
from proceval.track.agent import Agent
from tests.arena import quick

CASES = r"""
- id: sum
  fixture: sums
  setup: ["mkdir -p notes && echo first > notes/log"]
  turns: [Mend sums/core.py.]
  expect:
    verify: python3 -P -m unittest discover -q -s tests -t .
    files: {sums/core.py: {contains: ["def total"], not_contains: ["- value"]}}
    calls: {function: sums.core.total, tests: total}
    response_matches: ['^mended: core$']
    response_not_contains: ["sorry"]
    checks:
      - {id: weighty, weight: 3, verify: grep -q 'secret' probe.txt && test "$(cat notes/log)" = first}
    max_turns: 12
  protect: [tests, notes, "**/conftest.py", "*.py"]
  hidden: probe
- id: two
  fixture: sums
  turns: [Say one., Say two.]
  expect: {response_contains: ["two"], max_turns: 3}
- id: slow
  fixture: sums
  turns: [Wait.]
  timeout_s: 1
  expect: {response_contains: ["done"]}
- id: broken
  fixture: sums
  setup: ["true", "echo no such tool >&2; exit 3"]
  turns: [Anything.]
  expect: {response_contains: ["done"]}
- id: unchecked
  fixture: sums
  turns: [Anything.]
- id: polite
  fixture: sums
  turns: [Greet.]
  expect: {rubric: [{id: greets, text: The reply greets., weight: 2}], response_contains: ["good morning"]}
- id: endless
  fixture: sums
  turns: [Anything.]
  expect: {response_matches: ['\A(a|a?)+\z']}
"""
CORE = "def total(values):\n    found = 0\n    for value in values:\n        found = found - value\n    return found\n"
TEST = (
    "import unittest\n\nfrom sums.core import total\n\n\nclass Total(unittest.TestCase):\n"
    "    def test_total(self):\n        self.assertEqual(total([1, 2]), 3)\n"
)


def build(home: Path) -> Path:
    """Write the suite; returns its folder of cases."""
    for path, text in {
        "cases/mend.yml": CASES,
        "fixtures/sums/sums/__init__.py": "",
        "fixtures/sums/sums/core.py": CORE,
        "fixtures/sums/tests/__init__.py": "",
        "fixtures/sums/tests/test_core.py": TEST,
        "hidden/probe/probe.txt": "secret\n",
        "hidden/total.jsonl": '{"arguments": {"values": [4, -1]}, "expected": 3}\n{"arguments": {"values": []}, "expected": 0}\n',
        "scripted/mend/sum/gold.sh": "sed -i 's/- value/+ value/' sums/core.py\necho 'mended: core'\n",
        "scripted/mend/sum/cheat.sh": "rm -rf probe.txt; ln -s /etc/passwd probe.txt\necho 'mended: core'\n",
    }.items():
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
    return home / "cases"


class NoFolder:
    """Stands for a run folder where only cases are read."""

    outputs = path = Path("/nowhere")


@cache
def _node() -> dict[str, Any]:
    node: dict[str, Any] = config.compose("track=agent", "track.workspace.limits.wall_s=20")["track"]
    return node


def track(cases_dir: Path, globs: str | list[str], **changes: Any) -> Agent:
    """The track as conf/track/agent.yaml has it, with these cases read."""
    made: Agent = config.build(_node() | {"cases_dir": str(cases_dir), "cases": globs} | changes, "track")
    made.cases(NoFolder())
    return made


def run(
    made: Agent, folder: Path, model: Any, box: Any, *, rescore: bool = False, **changes: Any
) -> tuple[EngineReport, list[Verdict]]:
    """One pass of the engine; the report and the verdicts."""
    engine = quick(**changes)
    report = engine.evaluate(
        made.cases(NoFolder()),
        model=model,
        strategy=Flat(),
        track=made,
        scorer=made.scorer(box),
        samples=1,
        folder=folder,
        progress=lambda done, total: None,
        rescore=rescore,
    )
    lines = (folder / "verdicts.jsonl").read_text().splitlines()
    return report, [Verdict.model_validate_json(line) for line in lines]


def responses(folder: Path) -> list[Response]:
    return [Response.model_validate_json(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def calling(*calls: tuple[str, Any]) -> dict[str, Any]:
    """A message in the OpenAI shape that calls tools; arguments that are no object are sent as they are."""
    made = [
        {
            "id": f"c{n}",
            "type": "function",
            "function": {"name": name, "arguments": a if isinstance(a, str) else json.dumps(a)},
        }
        for n, (name, a) in enumerate(calls)
    ]
    return {"content": None, "tool_calls": made}


def tool_call(name: str, arguments: Any) -> ToolCall:
    return ToolCall(id="x", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments))
