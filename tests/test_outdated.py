"""A data set that an edited family would make differently is not taken for the one that was asked for."""

from pathlib import Path

import pytest

from proceval import config, folder
from proceval.folder import RunFolder
from tests.release.made import WORDS, stage


def test_a_changed_source_has_another_identity_and_its_old_dataset_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = config.compose(*WORDS, "stage=generate")

    def run() -> RunFolder:
        inputs = config.generation_identity(settings)
        made = RunFolder(path=tmp_path / "run", settings=settings, inputs=inputs, outputs=tmp_path, dataset=None)
        made.path.mkdir(exist_ok=True)
        assert stage("generate").run(made) == 0
        return made

    first = run()
    (first / "records.jsonl").write_text("paid\n")
    (first / "audit.jsonl").write_text("of the old dataset\n")
    run()
    assert "stands already" in capsys.readouterr().err
    monkeypatch.setattr(config, "source_digest", lambda: "edited")
    again = run()
    assert again.inputs != first.inputs
    assert "made anew" in capsys.readouterr().err
    assert (again / "records.jsonl").read_text() == "paid\n", "what was paid for is never thrown away"
    assert not (again / "audit.jsonl").exists()
    assert (again / folder.MADE_FROM).read_text().strip() == again.inputs
