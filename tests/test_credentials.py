"""No credential is written down: known by its value, whatever key it stands under and whoever says it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from proceval import config, credentials
from proceval.errors import InputError
from proceval.folder import write_atomically
from proceval.store import Log
from tests.arena import Endpoint, endpoint, evaluate, http_model, problem  # noqa: F401 - fixture
from tests.conftest import Run

SECRET = 'pa55"w/o\\rd-0123'
WORDS = (
    "model=openai_http",
    "model.id=m",
    "model.base_url=http://localhost:9/v1",
    '+model.extra.extra_headers={Authorization: "Bearer ${oc.env:HOUSE_PASS}"}',
    "+model.extra.user=${oc.env:HOUSE_PASS}",
)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "_watched", set())
    monkeypatch.setattr(credentials, "_values", None)


def test_credentials_are_known_by_the_names_of_their_variables_and_never_words_numbers_or_paths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in {
        "ODD_API_KEY": "k-4711-0815", "db_password": SECRET, "SHORT_TOKEN": "x-12345", "PLAIN_KEY": "solution",
        "NUMBER_TOKEN": "1234567890", "FILE_KEY": "/keys/id_rsa", "HARMLESS": "not-a-key-1",
    }.items():  # fmt: skip
        monkeypatch.setenv(name, value)
    text = f"k-4711-0815 {SECRET} x-12345 solution 1234567890 /keys/id_rsa not-a-key-1"
    assert credentials.redact(text) == "REDACTED REDACTED x-12345 solution 1234567890 /keys/id_rsa not-a-key-1"
    assert json.loads(credentials.redact(json.dumps([SECRET, "a"]))) == ["REDACTED", "a"]
    credentials.watch(["HARMLESS"])
    assert credentials.redact("not-a-key-1") == "REDACTED"


def test_what_the_environment_brings_into_a_request_is_a_credential_and_names_and_paths_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOUSE_PASS", SECRET)
    monkeypatch.setenv("SCRATCH", "disk-1/outputs")
    settings = config.compose(*WORDS, "outputs=${oc.env:SCRATCH}")
    assert settings["model"]["extra"]["user"] == SECRET
    shown = config.redact(settings)
    assert SECRET not in str(shown).replace("\\\\", "\\")
    assert shown["model"]["extra"]["extra_headers"] == {"Authorization": "Bearer REDACTED"}
    assert shown["outputs"] == "disk-1/outputs"
    before = config.identity(settings)
    monkeypatch.setenv("HOUSE_PASS", "another-0123")
    assert config.identity(config.compose(*WORDS, "outputs=${oc.env:SCRATCH}")) == before, "another key is the same run"


def test_whatever_writes_into_a_run_folder_leaves_them_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", SECRET)
    write_atomically(tmp_path / "config.yaml", yaml.safe_dump({"a": f"x {SECRET}"}))
    log = Log(tmp_path / "records.jsonl", fsync_s=1.0)
    log.append(json.dumps({"text": SECRET}))
    assert json.loads(log.read(0)) == {"text": "REDACTED"}
    second = log.append("{}")
    assert log.read(second) == b"{}"
    log.close()
    assert yaml.safe_load((tmp_path / "config.yaml").read_text()) == {"a": "x REDACTED"}


def test_an_endpoint_that_says_what_it_was_sent_leaves_nothing_on_record(
    endpoint: Endpoint,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOUSE_TOKEN", "plain-looking-0123")
    model = http_model(endpoint.base_url, key_variable="HOUSE_TOKEN", extra={"user": "plain-looking-0123"})
    endpoint.script(message=[{"content": "you sent Bearer plain-looking-0123"}])
    report = evaluate([problem(0), problem(1)], tmp_path, model=model)
    assert report.requests == 2
    assert "you sent Bearer REDACTED" in (tmp_path / "records.jsonl").read_text()
    assert not [file for file in tmp_path.rglob("*") if file.is_file() and b"plain-looking" in file.read_bytes()]
    again = evaluate([problem(0), problem(1)], tmp_path, model=model)
    assert (again.requests, again.resumed) == (0, 2)


@pytest.mark.parametrize("word", ["seed=${oc.env:HOUSE_KEY}", "outputs=there/${oc.env:HOUSE_KEY}"])
def test_no_run_is_named_after_one(word: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOUSE_KEY", "s-0123456789")
    with pytest.raises(InputError, match=f"{word.partition('=')[0]}: a credential of the environment stands there"):
        config.compose(word)


def test_no_complaint_repeats_one(proceval: Callable[..., Run], tmp_path: Path) -> None:
    run = proceval("model=openai_http", *WORDS[1:3], "model.max_tokens=${oc.env:HOUSE_KEY}", HOUSE_KEY="s-0123456789")
    assert run.returncode == 2
    assert "model.max_tokens='REDACTED'" in run.stderr
    assert "0123456789" not in run.stdout + run.stderr
    assert not (tmp_path / "outputs").is_dir() or not any((tmp_path / "outputs").iterdir())
