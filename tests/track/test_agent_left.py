"""What an agent may leave to take its failure out of the count: it is the agent's failure, whatever the tree looks like."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.arena import Endpoint, http_model
from tests.track import yard
from tests.track.yard import calling


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return yard.build(tmp_path_factory.mktemp("suite"))


def left_by(command: str, suite: Path, endpoint: Endpoint, box: Any, folder: Path, **changes: Any) -> Any:
    """The verdict on an agent that runs this command in the case `sum` and then says what is asked."""
    calls = (("shell", {"command": command}), ("list", {}), ("read", {"path": "no\ud800"}))
    endpoint.script(message=[calling(*calls), {"content": "mended: core"}])
    _, (verdict,) = yard.run(yard.track(suite, "mend/sum", **changes), folder, http_model(endpoint.base_url), box)
    return verdict


def test_names_that_are_not_utf8_are_written_down_and_judged(
    suite: Path, endpoint: Endpoint, box: Any, tmp_path: Path
) -> None:
    names = r"echo a > $'\xff'; echo 'x = 1' > $'sums/\xfe.py'; ln -s $'\xfd' link; touch $'\xffempty'; mkdir $'\xfc'"
    verdict = left_by(names, suite, endpoint, box, tmp_path)
    assert (verdict.outcome, verdict.fault) == ("failed", "model"), verdict.detail
    assert {g.id: g.passed for g in verdict.grades}["calls"] is False
    place = tmp_path / "default" / "mend" / "sum"
    diff = (place / "workspace.diff").read_text(encoding="utf-8")
    for line in ("+++ b/\\udcff\n", "+++ b/sums/\\udcfe.py\n", "link: nothing -> link to \\udcfd\n"):
        assert line in diff, diff
    assert json.loads((place / "checks.json").read_text())["outcome"] == "failed"
    assert "\\udcff" in (place / "transcript.jsonl").read_text(encoding="utf-8")
