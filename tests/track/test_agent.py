"""The agent track: the loop against a scripted endpoint, the judgement of what is left, and what nobody can talk round."""

import json
from pathlib import Path
from typing import Any

import pytest

from proceval.errors import InputError
from proceval.model.scripted_agent import ScriptedAgent
from proceval.report import agent as report
from proceval.strategy.best_of_n import BestOfN
from tests.arena import Endpoint, http_model, quick
from tests.track import yard
from tests.track.yard import calling

CALLS = [
    calling(("list", {}), ("read", {"path": "/workspace/sums/core.py"}), ("search", {"pattern": "found = .*value"})),
    calling(
        ("shell", "{not json"),
        ("teleport", {}),
        ("", ""),
        ("read", []),
        ("read", {"path": 7}),
        ("read", {"path": "../../../etc/passwd"}),
        ("read", {"path": "no/such/file"}),
        ("write", {"path": "x"}),
        ("edit", {"path": "sums/core.py", "old": "nowhere", "new": ""}),
        ("edit", {"path": "sums/core.py", "old": "found", "new": "f", "colour": "red"}),
        ("edit", {"path": "sums/core.py", "old": "found", "new": "f"}),
    ),
    calling(("shell", {"command": "yes | head -c 300000; echo to-stderr >&2; exit 3"})),
    calling(
        ("shell", {"command": "env; echo $HOME; ls -A ~ | wc -l; cat /etc/shadow; (exec 3<>/dev/tcp/1.1.1.1/80) 2>&1"})
    ),
    calling(("edit", {"path": "sums/core.py", "old": "found - value", "new": "found + value"})),
    calling(
        ("write", {"path": "notes/new/file.txt", "content": "é\n"}), ("shell", {"command": "python3 -m unittest -q"})
    ),
    {"content": "I looked.\nmended: core\n"},
]


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return yard.build(tmp_path_factory.mktemp("suite"))


@pytest.fixture(scope="module")
def looped(suite: Path, endpoint: Endpoint, box: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The case `sum` solved by a scripted endpoint through the real loop."""
    folder = tmp_path_factory.mktemp("looped")
    endpoint.script(message=CALLS, finish_reason="tool_calls")
    made = yard.track(suite, "mend/sum")
    found, (verdict,) = yard.run(made, folder, http_model(endpoint.base_url), box)
    return {"folder": folder, "report": found, "verdict": verdict, "stats": endpoint.stats()}


def test_the_loop_finishes_a_task_and_every_request_is_a_turn(looped: dict[str, Any]) -> None:
    verdict, stats = looped["verdict"], looped["stats"]
    assert verdict.outcome == "passed", verdict.detail
    assert (verdict.turns, stats["requests"], verdict.score) == (7, 7, 1.0)
    assert (verdict.prompt_tokens, verdict.completion_tokens) == (140, 35)
    assert verdict.cost_usd is None
    assert [g.kind for g in verdict.grades] == [
        "verify", "contains", "not_contains", "response_not_contains", "response_matches", "calls", "verify",
    ]  # fmt: skip


def test_tools_are_offered_and_their_results_told(looped: dict[str, Any]) -> None:
    first, last = looped["stats"]["bodies"][0], looped["stats"]["bodies"][-1]
    assert [t["function"]["name"] for t in first["tools"]] == ["read", "write", "edit", "list", "search", "shell"]
    assert [m["role"] for m in first["messages"]] == ["system", "user"]
    told = {n: [m["content"] for m in last["messages"] if m["role"] == "tool"][n] for n in range(18)}
    assert told[0].splitlines() == [
        "notes/", "notes/log", "sums/", "sums/__init__.py", "sums/core.py", "tests/", "tests/__init__.py", "tests/test_core.py",
    ]  # fmt: skip
    assert told[1] == yard.CORE
    assert told[2] == "sums/core.py:4:        found = found - value"
    assert all(told[n].startswith("ERROR: ") for n in range(3, 14)), told
    for n, part in enumerate(
        ["not JSON", "no tool 'teleport'", "no tool ''", "no JSON object", "must be a string", "outside", "no such file",
         "needs the argument content", "does not occur", "no argument 'colour'", "occurs 4 times"], 3
    ):  # fmt: skip
        assert part in told[n], told[n]
    assert told[14].startswith("[exit status 3]\ny\ny\n")
    assert "characters are left out here" in told[14]
    assert told[14].endswith("[standard error]\nto-stderr")
    assert len(told[14]) < 17_000
    assert "1 passage in sums/core.py" in told[16]
    assert "wrote 3 bytes to notes/new/file.txt" in told[17]


def test_commands_see_neither_environment_nor_network(looped: dict[str, Any]) -> None:
    text = [m["content"] for m in looped["stats"]["bodies"][-1]["messages"] if m["role"] == "tool"][15]
    names = {line.split("=")[0] for line in text.splitlines() if "=" in line and " " not in line.split("=")[0]}
    assert names <= {"PWD", "HOME", "LANG", "TMPDIR", "SHLVL", "PYTHONDONTWRITEBYTECODE", "PATH", "_"}, names
    assert "/home/guest\n0\n" in text
    assert "No such file" in text
    assert "unreachable" in text


def test_what_happened_lies_beside_the_records(looped: dict[str, Any]) -> None:
    place = looped["folder"] / "default" / "mend" / "sum"
    events = [json.loads(line) for line in (place / "transcript.jsonl").read_text().splitlines()]
    assert [event["role"] for event in events[:4]] == ["system", "user", "assistant", "tool"]
    assert sum("latency_s" in event for event in events) == 7
    assert events[-1]["content"] == "I looked.\nmended: core\n"
    checks = json.loads((place / "checks.json").read_text())
    assert (checks["outcome"], checks["score"], len(checks["checks"])) == ("passed", 1.0, 7)
    diff = (place / "workspace.diff").read_text()
    assert "+        found = found + value" in diff
    assert "notes/log" not in diff, "what set-up made is no change of the agent's"


def test_a_run_is_resumed_and_judged_again_without_a_request(
    suite: Path, looped: dict[str, Any], box: Any, endpoint: Endpoint
) -> None:
    before = (looped["folder"] / "verdicts.jsonl").read_bytes()
    endpoint.script()
    for rescore in (False, True):
        found, _ = yard.run(
            yard.track(suite, "mend/sum"), looped["folder"], http_model(endpoint.base_url), box, rescore=rescore
        )
        assert (found.requests, found.resumed) == (0, 7)
        assert (looped["folder"] / "verdicts.jsonl").read_bytes() == before
    assert endpoint.stats()["requests"] == 0


def test_over_the_limit_of_requests_or_time_is_an_error_of_the_agent(
    suite: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    endpoint.script(message=[calling(("shell", {"command": "sleep 0.01"}))])
    _, (two,) = yard.run(yard.track(suite, "mend/two"), tmp_path / "a", http_model(endpoint.base_url), box)
    assert (two.outcome, two.fault, two.turns) == ("turn_limit", "model", 3)
    assert report.told([two]) == "ERROR mend/two: turn limit 3 exceeded\n\n0/1 passed"
    endpoint.script(message=[calling(("shell", {"command": "sleep 60"}))])
    _, (slow,) = yard.run(yard.track(suite, "mend/slow"), tmp_path / "b", http_model(endpoint.base_url), box)
    assert (slow.outcome, slow.detail) == ("timeout", "time limit 1 s exceeded")


def test_turns_are_asked_in_order_and_the_last_reply_is_checked(
    suite: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    endpoint.script(message=[{"content": "one"}, {"content": ""}, {"content": "one"}, {"content": "two"}])
    made = yard.track(suite, "mend/two")
    _, (missed,) = yard.run(made, tmp_path / "a", http_model(endpoint.base_url), box)
    _, (passed,) = yard.run(made, tmp_path / "b", http_model(endpoint.base_url), box)
    assert (missed.outcome, passed.outcome) == ("failed", "passed")
    said = [message["content"] for message in endpoint.stats()["bodies"][-1]["messages"][1:]]
    assert said == ["Say one.", "one", "Say two."]


def test_cases_at_fault_and_cases_without_checks_are_told_apart(
    suite: Path, box: Any, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.script(reply="a" * 40 + "b")
    made = yard.track(suite, ["mend/broken", "mend/unchecked", "mend/endless"])
    found, verdicts = yard.run(made, tmp_path, http_model(endpoint.base_url), box)
    broken, unchecked, endless = verdicts
    assert (broken.outcome, broken.fault, found.exit_status) == ("case_fault", "case", 3)
    assert report.told([broken]).startswith("ERROR mend/broken: setup failed (exit 3): echo no such tool")
    assert endpoint.stats()["requests"] == 2, "nobody is asked where set-up fails"
    assert (unchecked.outcome, unchecked.extraction, unchecked.score) == ("passed", "unchecked", None)
    assert report.told([unchecked]) == "PASS mend/unchecked (unchecked)\n\n1/1 passed"
    assert report.summarise([unchecked])["unchecked"] == 1  # type: ignore[index]
    assert (endless.outcome, endless.fault, endless.score) == ("failed", "model", 0.0), "no end on this reply"
    assert endless.detail.endswith("did not come to an end on it")


def test_a_rubric_is_decided_by_judges_and_counts_by_its_weight(
    suite: Path, box: Any, endpoint: Endpoint, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=r"mend/polite has a rubric; add \+model@track\.judges"):
        yard.track(suite, "mend/polite")
    endpoint.script(reply="Hello to all of you who are in this room.")
    for manner, outcome, score in (("lenient", "failed", 2 / 3), ("broken", "judge_fault", None)):
        judge = {"_target_": "proceval.model.scripted_judge.ScriptedJudge", "id": manner, "manner": manner}
        made = yard.track(suite, "mend/polite", judges={"first": judge})
        _, (verdict,) = yard.run(made, tmp_path / manner, http_model(endpoint.base_url), box)
        assert (verdict.outcome, verdict.score) == (outcome, score), verdict


def test_a_link_in_the_place_of_a_hidden_file_leads_nobody_anywhere(suite: Path, box: Any, tmp_path: Path) -> None:
    cheat = ScriptedAgent(id="cheat", behaviour="cheat")
    _, (verdict,) = yard.run(yard.track(suite, "mend/sum"), tmp_path, cheat, box)
    assert {g.id: g.passed for g in verdict.grades}["weighty"] is True, "the file is laid over it"
    assert verdict.outcome == "failed"
    assert "secret" not in json.dumps([g.evidence for g in verdict.grades if g.kind != "verify"])


FORGERIES = {
    "ends with status 0": "import os\nos._exit(0)\n",
    "is equal to everything": """\
class Any(int):
    def __eq__(self, other):
        return True


def total(values):
    return Any()
""",
    "prints and leaves": "def total(values):\n    print('3')\n    raise SystemExit(0)\n",
    "looks for the tests": """\
import sys


def total(values):
    frame = sys._getframe()
    while frame:
        if "expected" in frame.f_locals:
            return frame.f_locals["expected"]
        frame = frame.f_back
""",
}


@pytest.mark.parametrize(
    "name", [next(iter(FORGERIES)), *(pytest.param(n, marks=pytest.mark.slow) for n in list(FORGERIES)[1:])]
)
def test_calls_are_compared_where_the_code_does_not_run(
    suite: Path, box: Any, tmp_path: Path, endpoint: Endpoint, name: str
) -> None:
    write = calling(("write", {"path": "sums/core.py", "content": FORGERIES[name]}))
    endpoint.script(message=[write, {"content": "mended: core"}])
    _, (verdict,) = yard.run(yard.track(suite, "mend/sum"), tmp_path, http_model(endpoint.base_url), box)
    assert verdict.outcome == "failed"
    assert {g.id: g.passed for g in verdict.grades}["calls"] is False


def test_added_and_edited_tests_are_put_back_before_verify(
    suite: Path, box: Any, tmp_path: Path, endpoint: Endpoint
) -> None:
    cheat = (
        "echo > tests/test_core.py; echo gone > notes/log; touch tests/test_more.py; printf 'import os\\nos._exit(0)\\n' | "
        "tee conftest.py unittest.py sitecustomize.py > sums/conftest.py; mkdir probe.txt; ln -s /tmp tests/out"
    )
    endpoint.script(message=[calling(("shell", {"command": cheat})), {"content": "mended: core"}])
    _, (verdict,) = yard.run(yard.track(suite, "mend/sum"), tmp_path, http_model(endpoint.base_url), box)
    passed = {g.id: g.passed for g in verdict.grades}
    assert (passed["verify"], passed["weighty"], passed["calls"]) == (False, True, False)
    assert verdict.score == pytest.approx(6 / 9)


def test_a_strategy_with_answers_of_its_own_is_refused(suite: Path, box: Any, tmp_path: Path) -> None:
    made = yard.track(suite, "mend/sum")
    with pytest.raises(InputError, match="strategy=best_of_n"):
        quick().evaluate(
            made.cases(yard.NoFolder()),
            model=ScriptedAgent(id="gold", behaviour="gold"),
            strategy=BestOfN(candidates=2),
            track=made,
            scorer=made.scorer(box),
            samples=1,
            folder=tmp_path,
            progress=lambda done, total: None,
        )


def test_an_own_system_prompt_is_a_template(suite: Path, tmp_path: Path) -> None:
    own = tmp_path / "own.j2"
    own.write_text("{% for tool in tools %}{{ tool.name }} {% endfor %}in {{ folder }} for {{ group }}/{{ id }}\n")
    made = yard.track(suite, "mend/sum", system_prompt=str(own), tools=["read", "shell"])
    system, user = made.prompt(made.cases(yard.NoFolder())[0])
    assert system.content == "read shell in /workspace for mend/sum"
    assert user.content == "Mend sums/core.py."
    own.write_text("")
    assert len(yard.track(suite, "mend/sum", system_prompt=str(own)).prompt(made.cases(yard.NoFolder())[0])) == 1
    for text, says in (("{{ tols }}", "'tols' is undefined"), ("a\n{% for %}", "line 2"), ("{{ 1 // 0 }}", "by zero")):
        own.write_text(text)
        with pytest.raises(InputError, match=rf"track\.system_prompt=.*{says}"):
            yard.track(suite, "mend/sum", system_prompt=str(own))
    with pytest.raises(InputError, match="none"):
        yard.track(suite, "mend/sum", system_prompt=str(tmp_path / "none"))


def test_the_forecast_knows_how_many_requests_there_may_be(suite: Path) -> None:
    made = yard.track(suite, "mend/[st]*")
    found = quick().forecast(
        made.cases(yard.NoFolder()),
        model=ScriptedAgent(id="g", behaviour="gold"),
        strategy=BestOfN(candidates=1),
        track=made,
        samples=2,
    )
    assert (found["samples"], found["requests_fewest"], found["requests_most"]) == (6, 6, 180)
