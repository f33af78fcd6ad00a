"""Fresh sets: a seed is a name, two seeds share nothing, and what two sets share is found, relabelled or not."""

import re
from pathlib import Path

import pytest

from proceval import config
from proceval.errors import InputError
from proceval.folder import RunFolder, read, write_records
from proceval.problem import problem_id
from proceval.release import overlap
from proceval.schema import Problem
from proceval.seeding import rng
from tests.release.made import compose, folder, stage

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("word", "seed"),
    [
        ("2026-11", "2026-11"),
        ("2026-11-30", "2026-11-30"),
        ("007", "007"),
        ("'1e5'", "1e5"),
        ("7", 7),
    ],
)
def test_a_seed_is_what_was_typed(word, seed):
    found = config.compose(f"seed={word}")["seed"]
    assert (found, type(found)) == (seed, type(seed))


def test_a_name_is_the_same_on_the_command_line_and_in_a_file(tmp_path):
    from omegaconf import OmegaConf

    (tmp_path / "x.yaml").write_text("seed: 2026-11-30\n")
    assert OmegaConf.load(tmp_path / "x.yaml")["seed"] == "2026-11-30"
    run = RunFolder(path=tmp_path, settings={}, inputs="x", outputs=tmp_path, dataset=None)
    run.write_config(config.compose("seed=2026-11-30"), identity="", versions={}, git_commit=None)
    import yaml

    assert yaml.safe_load((tmp_path / "config.yaml").read_text())["seed"] == "2026-11-30"


@pytest.mark.parametrize("word", ["1e5", "true"])
def test_what_yaml_takes_for_something_else_needs_quotes(word):
    with pytest.raises(InputError, match="needs quotes to be a name") as caught:
        config.compose(f"seed={word}")
    assert "\n" not in str(caught.value)


def test_digits_are_the_number_they_always_were_and_a_quoted_number_is_a_name():
    assert rng("instance", 7).random() != rng("instance", "7").random()
    assert config.generation_identity(config.compose("seed=7")) != config.generation_identity(
        config.compose("seed='7'")
    )


# ------------------------------------------------------------------------------------------------ overlap


@pytest.fixture(scope="module")
def families():
    groups = config.build(compose()["domain"], "domain")
    return {name: family for group in groups.values() for name, family in group.items()}


@pytest.fixture
def problems(made) -> list[Problem]:
    return list(read(made / "dataset.jsonl", Problem))


def relabelled(problem: Problem) -> Problem:
    """The same graph under other vertex names, its edges in another order."""
    arguments = dict(problem.arguments)
    names = [(label + 1) % arguments["n"] for label in range(arguments["n"])]
    edges = [[names[edge[0]], names[edge[1]], *edge[2:]] for edge in arguments["edges"]]
    given = {key: names[arguments[key]] for key in arguments if key in ("source", "target")}
    return problem.model_copy(update={"arguments": {**arguments, "edges": edges[::-1], **given}})


def test_the_same_instance_is_found_whatever_surrounds_it(problems, families):
    other = [p.model_copy(update={"id": "f" * 20, "difficulty": "hard", "tests": ()}) for p in problems[:2]]
    assert overlap.overlap(problems, other, families) == ([p.id for p in problems[:2]], [])


def test_a_relabelled_twin_is_found_and_a_neighbour_is_not(problems, families):
    graph = next(p for p in problems if p.family == "dag_shortest_path")
    twin = relabelled(graph)
    assert twin.arguments != graph.arguments
    assert overlap.overlap(problems, [twin], families) == ([], [graph.id])
    heavier = [[*edge[:2], edge[2] + 1] for edge in twin.arguments["edges"]]
    neighbour = twin.model_copy(update={"arguments": {**twin.arguments, "edges": heavier}})
    assert overlap.overlap(problems, [neighbour], families) == ([], [])


def test_an_instance_that_is_none_is_one_sentence(problems, families):
    broken = problems[0].model_copy(update={"arguments": {"array": "text"}})
    with pytest.raises(InputError, match="breaks the contract"):
        overlap.overlap(problems, [broken], families)


def test_verify_against_names_what_two_sets_share(made, exported, tmp_path, problems, capsys):
    twin = relabelled(next(p for p in problems if p.family == "dag_reachability"))
    write_records(tmp_path / "theirs.jsonl", [problems[0], twin])
    expected = {str(exported): len(problems), str(made): len(problems), str(tmp_path / "theirs.jsonl"): 1}
    for against, same in expected.items():
        assert stage("verify", against=against).run(folder(made, made)) == 1
        told = capsys.readouterr()
        assert f"{same} stand there too" in told.err
        assert f"{problems[0].id}: same instance" in told.out
    assert "easy dag_reachability: 1 relabelled" in told.out
    same_length = problems[0].model_copy(update={"arguments": {"array": [1]}})
    write_records(tmp_path / "theirs.jsonl", [same_length])
    assert stage("verify", against=tmp_path / "theirs.jsonl").run(folder(made, made)) == 0
    with pytest.raises(InputError, match="against=/nonsense"):
        stage("verify", against="/nonsense").run(folder(made, made))


def test_sets_of_two_names_share_nothing(made, families):
    """Neighbouring names and numbers: instances of larger tiers, as sampled, unproved."""
    generate = stage("generate", "difficulty=[hard]")
    from proceval.journal import Ticket

    drawn: dict[str, set[str]] = {}
    for seed in ("2026-11", "2026-12", "2026-1", 42, 43):
        generate.seed = seed
        drawn[str(seed)] = {
            f"{name} {generate._sampled(Ticket(name, 'hard', index), 0)}"
            for name in generate.families
            for index in range(20)
        }
    names = list(drawn)
    shared = {(a, b): len(drawn[a] & drawn[b]) for i, a in enumerate(names) for b in names[i + 1 :]}
    assert sum(shared.values()) == 0, shared


# ------------------------------------------------------------------------------------------------ versions


CONTENT = {
    "family": "f", "family_version": 1, "arguments": {"n": 1}, "statement": "Do.", "entry_point": "f", "expected": 2,
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("family", "g"),
        ("family_version", 2),
        ("arguments", {"n": 2}),
        ("statement", "Do!"),
        ("entry_point", "g"),
        ("expected", True),
    ],
)
def test_whatever_of_a_family_changes_its_problems_have_other_ids(name, value):
    assert problem_id(**CONTENT) != problem_id(**{**CONTENT, name: value})


def test_a_new_version_of_a_family_gives_new_instances_and_new_ids(monkeypatch, families):
    generate = stage("generate")
    from proceval.journal import Ticket

    for name in generate.families:
        ticket = Ticket(name, "easy", 0)
        before = generate._path(ticket, 0)
        monkeypatch.setattr(type(generate.families[name]), "version", generate.families[name].version + 1)
        assert generate._path(ticket, 0) != before


def test_every_raised_version_has_its_entry_in_the_errata(families):
    text = (ROOT / "ERRATA.md").read_text()
    for name, family in families.items():
        for version in range(2, family.version + 1):
            assert re.search(rf"^\| {name} \| {version} \|", text, re.MULTILINE), (
                f"{name} {version} is not in ERRATA.md"
            )
