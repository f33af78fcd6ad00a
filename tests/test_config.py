"""The configuration tree: every option composes and builds, experiments win, and mistakes get one clear sentence."""

import re
import subprocess
from pathlib import Path

import pytest

from proceval import config, nearest, provenance
from proceval.conftree import config_dir, groups, offline, top_keys
from proceval.errors import InputError
from proceval.folder import GENERATION
from proceval.words import complaint, misspelt

CONF = config_dir()
OPTIONS = [(group, option) for group, options in groups(CONF).items() for option in options]


@pytest.mark.parametrize(("group", "option"), OPTIONS, ids=lambda v: v)
def test_every_option_of_every_group_composes_and_builds(group: str, option: str) -> None:
    words = [f"{group}={option}"]
    if (group, option) == ("model", "openai_http"):
        words += ["model.id=some-model", "model.base_url=http://127.0.0.1:1/v1"]
    if (group, option) == ("model", "command"):
        words += ["model.argv=[some-agent]"]
    settings = config.compose(*words)
    if group == "experiment":
        config.build(settings["stage"], "stage")
    elif group != "difficulty":
        assert config.build(settings[group], group) is not None


def test_lists_of_domains_and_tiers_merge() -> None:
    settings = config.compose("domain=[arrays,graphs]", "difficulty=[easy,medium,hard,extreme]")
    assert list(settings["domain"]) == ["arrays", "graphs"]
    assert list(settings["difficulty"]) == ["easy", "medium", "hard", "extreme"]


def test_an_experiment_wins_over_the_defaults_and_the_command_line_wins_over_it() -> None:
    assert config.compose()["count"] != config.compose("experiment=smoke")["count"]
    assert list(config.compose("experiment=smoke")["difficulty"]) == ["easy", "medium"]
    assert config.compose("experiment=smoke", "count=7")["count"] == 7


def test_the_defaults_list_starts_with_self_and_ends_with_the_experiment() -> None:
    lines = (
        (CONF / "config.yaml").read_text(encoding="utf-8").split("defaults:")[1].split("\n\n")[0].strip().splitlines()
    )
    lines = [line for line in lines if "override" not in line]
    assert lines[0].split()[1] == "_self_"
    assert lines[-1].split()[1] == "experiment:"


LEAN = ("model=openai_http", "model.id=m", "model.base_url=http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["count=0"], ["count", "greater than or equal to 1"]),
        (["count=many"], ["count", "many"]),
        (["samples=-3"], ["samples"]),
        (["seed=[1]"], ["seed"]),
        (["seed=true"], ["seed"]),
        (["+colour=red"], ["unknown key 'colour'"]),
        (["+model.colour=red"], ["unknown key 'model.colour'"]),
        (["model=mok"], ["mok", "mock"]),
        (["domain=grahps"], ["grahps", "graphs"]),
        (["model=openai_http"], ["model.id"]),
        (["limit=0"], ["limit"]),
        (["dry_run=maybe"], ["dry_run"]),
        (["pass_k=[]"], ["pass_k"]),
        (["stage._target_=os.getcwd"], ["stage._target_", "only targets inside proceval. and sandbox."]),
        (["difficulty.hard.graphs.vertices=[9,3]"], ["difficulty.hard.graphs.vertices"]),
        (["difficulty.hard.graphs.vertices=ten"], ["difficulty.hard.graphs.vertices"]),
        (["difficulty.hard.graphs.density=7"], ["difficulty.hard.graphs.density"]),
        (["difficulty.hard.graphs.density=nan", "difficulty=hard"], ["difficulty.hard.graphs.density=nan: must be"]),
        (["engine.deadline_s=inf"], ["engine.deadline_s=inf: must be a finite number"]),
        ([*LEAN, "+model.extra.x=[1,{y:-inf}]"], ["model.extra.x.1.y=-inf: must be a finite number"]),
        ([*LEAN, "model.usd_per_million_prompt_tokens=inf"], ["model.usd_per_million_prompt_tokens=inf: must be"]),
        ([*LEAN, "+model.extra.temperature=1"], ["model.extra.temperature: it is a key of its own"]),
        ([*LEAN, "+model.extra.stream=true"], ["model.extra.stream: the engine sets it"]),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else None,
)
def test_a_mistake_is_named_with_its_key(words: list[str], names: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        config.build(config.compose(*words)["stage"], "stage")
    for name in names:
        assert name in str(caught.value)
    assert not str(caught.value).startswith("stage.model")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("word", ["domain=[]", "difficulty=[ ]", "model=null", "prover="])
def test_a_group_of_which_nothing_is_chosen_is_named_with_its_options(word: str) -> None:
    group = word.partition("=")[0]
    assert f"{group} needs at least one of: " in (misspelt([word]) or "")
    assert misspelt(["experiment=null"]) is None


def test_a_misspelt_key_is_answered_with_the_nearest_one() -> None:
    assert "did you mean 'domain'?" in (misspelt(["domian=graphs"]) or "")
    assert "did you mean 'samples'?" in (misspelt(["sample=3"]) or "")
    assert misspelt(["domain=graphs", "model.id=a/b", "+experiment=smoke", "~track", "hydra/launcher=joblib"]) is None


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("model=mokc", "did you mean 'mock'?"),
        ("model=gold,mokc", "did you mean 'mock'?"),
        ("difficulty=[easy,hrad]", "did you mean 'hard'?"),
        ("strategy=zzz", "options: best_of_n, flat, sequential_repair"),
    ],
)
def test_a_misspelt_option_is_answered_with_the_nearest_one(word: str, says: str) -> None:
    assert says in (misspelt([word]) or "")


def test_options_that_exist_and_ids_are_left_alone() -> None:
    words = ["model=mock,openai/gpt-4o-mini", "difficulty=[easy,hard]", "experiment=null", "model=x/y:z", "count=3"]
    assert misspelt(words) is None


@pytest.mark.parametrize("option", ["openai/gpt-4o-mini", "openai_http", "openai"])
def test_a_model_takes_parameters_that_a_provider_invents(option: str) -> None:
    model = [
        f"model={option}",
        *([] if option != "openai_http" else ["model.id=m", "model.base_url=http://127.0.0.1:9"]),
    ]
    whole = config.compose(*model, "model.extra={foo:1,bar:{x:2}}")
    assert whole["model"]["extra"] == {"foo": 1, "bar": {"x": 2}}
    assert whole["model"] == config.compose("model.extra.foo=1", "model.extra.bar.x=2", *model)["model"]
    judge = config.compose("track=review", f"model@track.judges.first={option}", *[
        word.replace("model.", "track.judges.first.") for word in (*model[1:], "model.extra={foo:1}", "model.extra.bar.x=2")
    ])  # fmt: skip
    assert judge["track"]["judges"]["first"]["extra"] == {"foo": 1, "bar": {"x": 2}}


@pytest.mark.parametrize(
    "word", ["seed=2026_11", "seed=1e5", "seed=+7", "seed=1,2_0", "model=openai/x.yaml", "model=[gold]"]
)
def test_what_hydra_would_change_without_a_word_is_refused(word: str) -> None:
    with pytest.raises(InputError, match=r"needs quotes to be a name|takes \.yaml off|without brackets"):
        config.compose(word)


@pytest.mark.parametrize(
    "word", ["seed=7", "seed=-7", "seed=007", "seed=2026-11", 'seed="2026_11"', "experiment=[smoke]"]
)
def test_what_hydra_leaves_alone_is_not_refused(word: str) -> None:
    config.compose(word)


def test_two_runs_of_other_tiers_differ_in_one_word() -> None:
    found = nearest.differences(config.compose(), config.compose("difficulty=[easy,hard]"), GENERATION)
    assert list(found) == ["difficulty=[easy,hard] instead of difficulty=[easy,medium,hard]"]
    left = {"audit": {"_target_": "x.standard.S", "limits": None}}
    right = {"audit": {"_target_": "x.standard.S", "limits": {"cpu_s": 2.0, "tiers": ["gate"]}}}
    assert list(nearest.differences(left, right, ["audit"])) == [
        "audit.limits={cpu_s:2.0,tiers:gate} instead of audit.limits=null"
    ]


def test_sizes_can_be_set_for_a_tier_and_for_one_family() -> None:
    tier = config.compose("domain=graphs", "difficulty=hard", "difficulty.hard.graphs.vertices=[20,30]")
    assert all(f.levels["hard"].vertices == (20, 30) for f in config.build(tier["domain"], "domain")["graphs"].values())
    one = config.compose("domain=graphs", "difficulty=hard", "domain.graphs.dag_reachability.vertices=[20,30]")
    families = config.build(one["domain"], "domain")["graphs"]
    assert families["dag_reachability"].levels["hard"].vertices == (20, 30)
    assert families["dag_shortest_path"].levels["hard"].vertices != (20, 30)


def test_secrets_are_replaced_in_what_is_written() -> None:
    given = {"model": {"api_key": "s3cret", "id": "x", "max_tokens": 5, "headers": [{"auth_token": "s3cret"}]}}
    shown = config.redact(given)
    assert "s3cret" not in str(shown)
    assert shown["model"]["id"] == "x"
    assert shown["model"]["max_tokens"] == 5


def test_a_run_folder_follows_from_what_a_run_computes_and_not_from_how_it_is_shown() -> None:
    base = config.identity(config.compose())
    assert base == config.identity(config.compose("workers=1", "tracker=off", "stage=report"))
    assert base != config.identity(config.compose("seed=1"))
    assert base != config.identity(config.compose("model=gold"))


def test_the_models_called_offline_are_those_that_are_handed_the_key_and_the_local_one() -> None:
    handed = {
        name
        for name in groups(CONF)["model"]
        if name not in ("command", "openai_http")
        and getattr(config.build(config.compose(f"model={name}")["model"], "model"), "needs_key", False)
    }
    assert set(offline(CONF)) == handed | {"local"}


def test_no_words_at_all_are_no_mistake() -> None:
    assert complaint([]) is None
    assert complaint(["--multirun", "model=mock,gold", "difficulty=easy,hard", "-m"]) is None


def test_every_top_level_key_is_explained_in_help() -> None:
    assert all(comment for comment in top_keys(CONF).values())


def test_the_commit_of_a_checkout_is_marked_when_files_were_edited(tmp_path: Path) -> None:
    def commit() -> str | None:
        provenance.git_commit.cache_clear()
        return provenance.git_commit(tmp_path / "conf")

    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True)

    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text("a: 1\n")
    (tmp_path / "other.txt").write_text("1\n")
    assert commit() is None or Path("/.git").exists()
    git("init", "-q")
    git("add", "other.txt")
    git("commit", "-qm", "first")
    assert commit() is None, "a checkout around it that does not know it, as around a virtual environment"
    git("add", "conf")
    git("commit", "-qm", "second")
    clean = commit()
    assert clean is not None
    assert re.fullmatch("[0-9a-f]{40}", clean)
    (tmp_path / "new.txt").write_text("not tracked\n")
    assert commit() == clean
    (tmp_path / "other.txt").write_text("2\n")
    assert commit() == f"{clean}-dirty"
    git("add", "other.txt")
    assert commit() == f"{clean}-dirty", "staged is not committed"


def test_without_git_the_commit_is_read_and_called_unchecked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / ".git" / "refs" / "heads").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (tmp_path / ".git" / "refs" / "heads" / "main").write_text("abc123\n")
    provenance.git_commit.cache_clear()
    assert provenance.git_commit(tmp_path) == "abc123-unchecked"
    provenance.git_commit.cache_clear()
