"""What an agent may leave to take its failure out of the count: it is the agent's failure, whatever the tree looks like."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from proceval.report import agent as report
from proceval.track.workplace import Workplace
from sandbox import beneath
from tests.arena import Endpoint, http_model
from tests.track import yard
from tests.track.yard import calling


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return yard.build(tmp_path_factory.mktemp("suite"))


def left_by(command: str, suite: Path, endpoint: Endpoint, box: Any, folder: Path) -> Any:
    """The verdict on an agent that runs this command in the case `sum` and then says what is asked."""
    calls = (("shell", {"command": command}), ("list", {}), ("read", {"path": "no\ud800"}))
    endpoint.script(message=[calling(*calls), {"content": "mended: core"}])
    made = yard.track(suite, "mend/sum", workspace=yard._node()["workspace"] | {"disk_bytes": 32 << 20})
    _, (verdict,) = yard.run(made, folder, http_model(endpoint.base_url), box)
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


def test_equal_trees_that_are_kept_at_the_same_time_do_not_disturb_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Judges that are commands leave an empty folder each, at the same moment."""
    together = threading.Barrier(4, timeout=20)
    monkeypatch.setattr("proceval.track.workplace.os.fsync", lambda _: together.wait())
    place = Workplace(SimpleNamespace(pack=lambda _: b"the same"), run_folder=tmp_path, most_bytes=100)
    with ThreadPoolExecutor(4) as threads:
        kept = {sha256 for sha256, _ in threads.map(lambda _: place.keep(), range(4))}
    assert [path.name for path in (tmp_path / "workspaces").iterdir()] == list(kept)
    assert place.kept(*kept) == b"the same"


TOO_MUCH = {
    "folders in folders": ("for n in $(seq 230); do mkdir d && cd d; done", "nested more than 64 deep"),
    "more than fits": ("truncate -s 60000000 a b c d e f g", "does not fit into"),
    "no room for it": ("truncate -s 20000000 a b", "no room for it"),
    "full": ("head -c 20000000 /dev/zero > a; head -c 20000000 /dev/zero > b", "no room for it"),
    "many": ("python3 -c \"for n in range(300): open(f'f{n}', 'w')\"", "more than 200 entries"),
}


@pytest.mark.parametrize("name", TOO_MUCH)
def test_a_tree_that_the_host_cannot_take_is_the_agents_failure(
    suite: Path, endpoint: Endpoint, box: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    command, says = TOO_MUCH[name]
    if name == "many":
        monkeypatch.setattr(beneath, "MOST_ENTRIES", 200)
    verdict = left_by(command, suite, endpoint, box, tmp_path)
    assert (verdict.outcome, verdict.fault, verdict.score) == ("failed", "model", 0.0), verdict.detail
    assert verdict.detail.startswith("the workspace as it was left cannot be judged: ")
    assert says in verdict.detail
    assert report.told([verdict]) == f"FAIL mend/sum\n  {verdict.detail}\n\n0/1 passed"
    assert json.loads((tmp_path / "default" / "mend" / "sum" / "checks.json").read_text())["outcome"] == "failed"
