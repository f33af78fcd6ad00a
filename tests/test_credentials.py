"""No credential is written down: known by its value, whatever key it stands under and whoever says it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from proceval import config, credentials
from proceval.conftree import config_dir
from proceval.errors import InputError
from proceval.folder import write_atomically
from proceval.schema import Completion, RequestFault, Response, Verdict
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
    monkeypatch.setattr(credentials, "_given", set())
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
    assert shown["model"]["extra"]["extra_headers"] == {"Authorization": "REDACTED"}
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


HELD = (
    "api_key", "apiKey", "APIKey", "apikey", "X-Api-Key", "x-goog-api-key", "X-Org-Key", "Ocp-Apim-Subscription-Key", "key",
    "Authorization", "Proxy-Authorization", "auth", "X-Auth-Token", "auth_token", "authtoken", "X-Amz-Security-Token",
    "aws_secret_access_key", "client_secret", "clientSecret", "secret", "password", "db-password", "passwd", "password_2",
    "vertex_credentials", "credential", "Cookie", "model.extra.token",
)  # fmt: skip
PLAIN = (
    "max_tokens", "max_completion_tokens", "budget_tokens", "tokens_per_minute", "prompt_tokens", "key_variable",
    "password_variable", "tokens", "keys", "monkey", "tokenizer", "stop_token_ids", "eos_token", "keep", "skip_special_tokens",
    "", "2", "author", "secretary",
)  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_a_name_tells_a_credential_in_every_notation(name: str) -> None:
    assert credentials.secret(name)
    assert credentials.hidden({"a": [{name: "x"}, {name: 12345678}]}) == {"a": [{name: "REDACTED"}, {name: "REDACTED"}]}
    assert credentials.hidden({name: {"user": ["x", None, True]}}) == {name: {"user": ["REDACTED", None, True]}}


@pytest.mark.parametrize("name", PLAIN)
def test_a_name_that_counts_tokens_or_names_a_variable_holds_none(name: str) -> None:
    assert not credentials.secret(name)


def test_no_key_of_our_own_is_taken_for_one() -> None:
    def names(node: Any) -> Iterator[str]:
        if isinstance(node, dict):
            for name, below in node.items():
                yield str(name)
                yield from names(below)
        elif isinstance(node, list):
            for below in node:
                yield from names(below)

    files = sorted(config_dir().rglob("*.yaml"))
    found = {name for file in files for name in names(yaml.safe_load(file.read_text(encoding="utf-8")))}
    found |= {name for record in (Completion, Response, Verdict, RequestFault) for name in record.model_fields}
    assert len(files) > 20
    assert {"max_tokens", "budget_tokens", "key_variable", "prompt_tokens", "id"} <= found
    assert [name for name in sorted(found) if credentials.secret(name)] == ["key"], (
        "a record's own, which is never hidden"
    )
    settings = config.compose("model=openai_http", "model.id=m", "model.base_url=http://localhost:9/v1")
    assert config.redact(settings) == settings


LITERAL = "hunter7hunter7"
GIVEN = (
    f"+model.extra.extra_headers.X-Org-Key={LITERAL}",
    "+model.extra.password=swordfish",
    '+model.extra.headers={Authorization: "Bearer abc-0123-def"}',
)


def test_a_literal_is_on_no_disk_and_another_one_is_another_run(endpoint: Endpoint, tmp_path: Path) -> None:  # noqa: F811
    settings = config.compose(*WORDS[:3], *GIVEN)
    other = config.compose(*WORDS[:3], GIVEN[0] + "8", *GIVEN[1:])
    assert config.identity(settings) != config.identity(other), "the name may only look like a credential's"
    assert LITERAL not in str(config.redact(settings))
    endpoint.script(message=[{"content": f"I saw {LITERAL} and abc-0123-def; swordfish is a word of the answer"}])
    for repeated, name in ((LITERAL, "a"), (LITERAL, "a"), ("other-0815", "b")):
        extra = {"extra_headers": {"X-Org-Key": repeated}, "password": "swordfish", "top_k": 3}
        model = http_model(endpoint.base_url, extra=extra)
        report = evaluate([problem(0)], tmp_path, model=model)
        assert report.requests == (name == "b" or not report.resumed), "found again by the value, which is not there"
    endpoint.script(status=400, body=f"wrong key {LITERAL}")
    said: list[str] = []
    failed = evaluate([problem(1)], tmp_path / "f", model=http_model(endpoint.base_url), say=said.append)
    assert failed.faults == {"bad_request": 1}
    held = "".join(file.read_text(encoding="utf-8") for file in tmp_path.rglob("*") if file.is_file())
    assert not [value for value in (LITERAL, "other-0815", "abc-0123-def") if value in held]
    assert held.count("swordfish") == held.count("swordfish is a word of the answer")
    records = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert [one["parameters"]["extra_headers"] for one in records] == [{"X-Org-Key": "REDACTED"}] * 2
    assert {one["parameters"]["password"] for one in records} == {"REDACTED"}
    assert {one["parameters"]["top_k"] for one in records} == {3}
    assert len({one["key"] for one in records}) == 2
    again = evaluate([problem(0)], tmp_path, model=model, rescore=True)
    assert again.resumed == 1


def test_another_key_of_the_environment_finds_the_same_answers(
    endpoint: Endpoint,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endpoint.script()
    for value in ("plain-looking-0123", "plain-looking-4567"):
        monkeypatch.setenv("HOUSE_TOKEN", value)
        credentials.watch()
        report = evaluate([problem(0)], tmp_path, model=http_model(endpoint.base_url, extra={"user": value}))
    assert (report.requests, report.resumed) == (0, 1)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("+model.extra.password=swordfish", "+model.extra.password=REDACTED"),
        ("+x.X-Org-Key='a b'", "+x.X-Org-Key=REDACTED"),
        ("+x.headers={Authorization:swordfish}", "+x.headers=REDACTED"),
        ('+x.headers={"Api-Key": "a b", b: 2}', "+x.headers=REDACTED"),
        ("+x.list=[{token: abc}]", "+x.list=REDACTED"),
        ("password=a,b", "password=REDACTED"),
        ("model.max_tokens=5", "model.max_tokens=5"),
        ("model.key_variable=HOUSE_KEY", "model.key_variable=HOUSE_KEY"),
        ("+x.headers={Accept: a/b}", "+x.headers={Accept: a/b}"),
        ("seed=[1", "seed=[1"),
        ("--multirun", "--multirun"),
    ],
)
def test_a_word_of_the_command_line_is_written_without_them(word: str, told: str) -> None:
    assert credentials.word(word) == told


@pytest.mark.slow
def test_a_whole_run_leaves_no_literal_in_files_and_names(
    endpoint: Endpoint,  # noqa: F811
    proceval: Callable[..., Run],
    tmp_path: Path,
) -> None:
    endpoint.script(message=[{"content": LITERAL}])
    where = f"model.base_url={endpoint.base_url}"
    run = proceval("difficulty=easy", "domain=arrays", "count=1", "figures=false", *WORDS[:2], where, *GIVEN)
    assert run.returncode == 0, run.stderr
    assert list(tmp_path.rglob("records.jsonl"))
    _nowhere(tmp_path)


def test_a_sweep_leaves_no_literal_in_files_and_names(proceval: Callable[..., Run], tmp_path: Path) -> None:
    run = proceval(
        "--multirun", "stage=generate", "count=1", "seed=1,2", "domain=arrays", "difficulty=easy", *WORDS[:3], *GIVEN
    )
    assert run.returncode == 0, run.stderr
    sweep = next(tmp_path.glob("outputs/sweeps/*"))
    listed = yaml.safe_load((sweep / "multirun.yaml").read_text())
    assert "model.extra.password=REDACTED" in " ".join(listed["hydra"]["overrides"]["task"])
    told = [json.loads(path.read_text())["overrides"] for path in sweep.glob("*/status.json")]
    assert len(told) == 2
    assert all("seed=1" in words or "seed=2" in words for words in told)
    _nowhere(tmp_path)


def _nowhere(folder: Path) -> None:
    for value in (LITERAL, "swordfish", "abc-0123-def"):
        assert not [path for path in folder.rglob("*") if value in str(path.relative_to(folder))]
        held = [path for path in folder.rglob("*") if path.is_file() and value.encode() in path.read_bytes()]
        assert not held, value


@pytest.mark.parametrize(
    "word", [f"model.base_url=http://user:{LITERAL}@127.0.0.1:9/v1", f"model.key_variable=sk-{LITERAL}"]
)
def test_one_that_stands_in_the_wrong_place_is_refused_and_written_nowhere(
    word: str, proceval: Callable[..., Run], tmp_path: Path
) -> None:
    small = ("domain=arrays", "difficulty=easy", "count=1", "samples=1", "pass_k=[1]", "tracker=off", "figures=false")
    for more in (("model.id=one",), ("model.id=one,two", "--multirun")):
        run = proceval("model=openai_http", word, *more, *small)
        assert run.returncode == 2, run.stderr
        assert LITERAL not in run.stdout + run.stderr
    held = [path for path in tmp_path.rglob("*") if path.is_file() and LITERAL.encode() in path.read_bytes()]
    assert not held
